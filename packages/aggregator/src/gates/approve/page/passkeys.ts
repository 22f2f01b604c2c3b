// Runs in the page: asks the browser for a passkey, with everything as text on both sides. It stands alone, since its
// text is what the page gets.
import type { Browser, PageCredential } from "./browser.ts";

export interface RequestOptions {
  challenge: string;
  allowCredentials: { id: string }[];
}

export interface CreationOptions {
  challenge: string;
  user: { id: string };
}

export interface Passkeys {
  /** Why there are none here, in a sentence. */
  obstacle(): string | undefined;
  /** Throws where the human has not done it. */
  get(options: RequestOptions): Promise<object>;
  create(options: CreationOptions): Promise<object>;
}

export function createPasskeys(): Passkeys {
  const { navigator, location } = globalThis as unknown as Browser;
  const bytesOf = (text: string) =>
    Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (char) => char.charCodeAt(0));
  const textOf = (bytes: ArrayBuffer | undefined) =>
    btoa(String.fromCharCode(...new Uint8Array(bytes ?? new ArrayBuffer(0))))
      .replaceAll("+", "-")
      .replaceAll("/", "_")
      .replaceAll("=", "");
  const given = (credential: PageCredential | null | undefined) => {
    if (credential === null || credential === undefined) throw new Error("no passkey was used");
    return credential;
  };
  return {
    obstacle() {
      if (/^[0-9.]{1,15}$|^\[/.test(location.hostname))
        return "Passkeys need a name, and this address is a number.";
      if (navigator.credentials === undefined) return "Passkeys need this page over HTTPS, or at localhost.";
      return undefined;
    },
    async get(options) {
      const publicKey = {
        ...options,
        challenge: bytesOf(options.challenge),
        allowCredentials: options.allowCredentials.map((one) => ({ ...one, id: bytesOf(one.id) })),
      };
      const { id, response } = given(await navigator.credentials?.get({ publicKey }));
      return {
        id,
        response: {
          clientDataJSON: textOf(response.clientDataJSON),
          authenticatorData: textOf(response.authenticatorData),
          signature: textOf(response.signature),
        },
      };
    },
    async create(options) {
      const publicKey = {
        ...options,
        challenge: bytesOf(options.challenge),
        user: { ...options.user, id: bytesOf(options.user.id) },
      };
      const { id, response } = given(await navigator.credentials?.create({ publicKey }));
      return {
        id,
        response: {
          clientDataJSON: textOf(response.clientDataJSON),
          attestationObject: textOf(response.attestationObject),
          transports: response.getTransports?.() ?? [],
        },
      };
    },
  };
}
