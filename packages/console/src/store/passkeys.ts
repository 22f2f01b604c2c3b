// Passkeys as this browser has them: asked for a signature, made anew, and used to log in. Everything goes as text.
import type { JsonObject } from "@mcpx/protocol";
import type { Api } from "./api.ts";
import { base64Url, bytesOf } from "./base64-url.ts";

const text = (bytes: ArrayBuffer) => base64Url(new Uint8Array(bytes));

/** `options` as the gateway gave them. Throws where the person has not done it. */
export async function askPasskey(
  credentials: CredentialsContainer,
  options: JsonObject,
): Promise<JsonObject> {
  const { challenge, rpId, timeout, userVerification, allowCredentials } =
    options as unknown as PublicKeyCredentialRequestOptionsJSON;
  const { id, response } = await given(
    credentials.get({
      publicKey: {
        ...(rpId !== undefined && { rpId }),
        ...(timeout !== undefined && { timeout }),
        userVerification: (userVerification ?? "required") as UserVerificationRequirement,
        challenge: bytesOf(challenge),
        allowCredentials: (allowCredentials ?? []).map(({ id }) => ({ type: "public-key", id: bytesOf(id) })),
      },
    }),
  );
  const { clientDataJSON, authenticatorData, signature } = response as AuthenticatorAssertionResponse;
  return {
    id,
    response: {
      clientDataJSON: text(clientDataJSON),
      authenticatorData: text(authenticatorData),
      signature: text(signature),
    },
  };
}

/** The page's half of the login. */
export async function logInWithPasskey(api: Api, credentials: CredentialsContainer): Promise<string> {
  const { ticket, ...options } = await api.post("/console/login/options", {});
  const credential = await askPasskey(credentials, options);
  const { half } = await api.post("/console/login", { ticket, credential });
  return String(half);
}

/** From now on it approves at gates, and lets whoever has it in here. */
export async function registerPasskey(
  api: Api,
  credentials: CredentialsContainer,
  name: string,
): Promise<void> {
  const options = await api.call("POST", "/passkeys/options", { name });
  const { challenge, user, rp, pubKeyCredParams, authenticatorSelection, timeout } =
    options as unknown as PublicKeyCredentialCreationOptionsJSON;
  const { id, response } = await given(
    credentials.create({
      publicKey: {
        rp,
        challenge: bytesOf(challenge),
        user: { ...user, id: bytesOf(user.id) },
        pubKeyCredParams: pubKeyCredParams as PublicKeyCredentialParameters[],
        ...(authenticatorSelection !== undefined && { authenticatorSelection }),
        ...(timeout !== undefined && { timeout }),
        attestation: "none",
      },
    }),
  );
  const made = response as AuthenticatorAttestationResponse;
  await api.call("POST", "/passkeys", {
    credential: {
      id,
      response: {
        clientDataJSON: text(made.clientDataJSON),
        attestationObject: text(made.attestationObject),
        transports: made.getTransports(),
      },
    },
  });
}

/** Why there are none here, in a sentence. */
export function passkeyObstacle(
  { hostname }: { hostname: string },
  hasCredentials: boolean,
): string | undefined {
  if (/^[0-9.]{1,15}$|^\[/.test(hostname)) return "Passkeys need a name: open this page at localhost.";
  return hasCredentials ? undefined : "Passkeys need this page over HTTPS, or at localhost.";
}

async function given(asked: Promise<Credential | null>): Promise<PublicKeyCredential> {
  const credential = await asked.catch((error: unknown) => {
    const isRefused = error instanceof DOMException && error.name === "NotAllowedError";
    throw isRefused ? new Error("No passkey was used. Nothing has changed.", { cause: error }) : error;
  });
  if (credential === null) throw new Error("No passkey was used. Nothing has changed.");
  return credential as PublicKeyCredential;
}
