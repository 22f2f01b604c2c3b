// Passkeys as this browser has them: asked for a signature, made anew, and used to log in. Everything goes as text.
import type { JsonObject } from "@mcpx/protocol";
import type { Api } from "./api.ts";

/** `options` as the gateway gave them. Throws where the person has not done it. */
export async function askPasskey(options: JsonObject): Promise<JsonObject> {
  const given = options as unknown as PublicKeyCredentialRequestOptionsJSON;
  const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(given);
  return textOf(navigator.credentials.get({ publicKey }), "used");
}

/** Makes a new passkey. */
export async function makePasskey(options: JsonObject): Promise<JsonObject> {
  const given = options as unknown as PublicKeyCredentialCreationOptionsJSON;
  const publicKey = PublicKeyCredential.parseCreationOptionsFromJSON(given);
  return textOf(navigator.credentials.create({ publicKey }), "made");
}

/** The page's half of the login. */
export async function logInWithPasskey(api: Api): Promise<string> {
  const { ticket, ...options } = await api.post("/console/login/options", {});
  const credential = await askPasskey(options);
  const { half } = await api.post("/console/login", { ticket, credential });
  return String(half);
}

/** From now on it approves at gates, and lets its holder log in here; unless an approver signs that first. */
export async function registerPasskey(api: Api, name: string): Promise<boolean> {
  const credential = await makePasskey(await api.call("POST", "/passkeys/options", { name }));
  const { waits } = await api.call("POST", "/passkeys", { credential });
  return waits === true;
}

export function waitsText(name: string): string {
  return `${name} approves once an approver has signed that. It waits as a card, and in mcpx pending.`;
}

/** Why there are none here, in a sentence. */
export function passkeyObstacle(): string | undefined {
  if (/^[0-9.]{1,15}$|^\[/.test(location.hostname))
    return "Passkeys need a name: open this page at localhost.";
  if (!("PublicKeyCredential" in globalThis)) return "Passkeys need this page over HTTPS, or at localhost.";
  if ("parseRequestOptionsFromJSON" in PublicKeyCredential) return undefined;
  return "Passkeys need a newer browser.";
}

async function textOf(asked: Promise<Credential | null>, verb: "used" | "made"): Promise<JsonObject> {
  const nothing = (cause?: unknown) => new Error(`No passkey was ${verb}. Nothing has changed.`, { cause });
  const credential = await asked.catch((error: unknown) => {
    const isLeft = error instanceof DOMException && ["NotAllowedError", "AbortError"].includes(error.name);
    throw isLeft ? nothing(error) : error;
  });
  if (credential === null) throw nothing();
  return (credential as PublicKeyCredential).toJSON() as unknown as JsonObject;
}
