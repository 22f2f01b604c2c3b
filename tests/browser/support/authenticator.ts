// A passkey device in Chromium that needs no finger: it does what it is told, also not to look who is there.
import type { BrowserContext, CDPSession, Page } from "playwright-core";

export interface Authenticator {
  /** Whether it will say that it knows its user. */
  setVerified(isVerified: boolean): Promise<void>;
  /** The passkeys in it, private keys and all. */
  credentials(): Promise<VirtualCredential[]>;
  add(credential: VirtualCredential): Promise<void>;
}

interface VirtualCredential {
  credentialId: string;
  isResidentCredential: boolean;
  rpId?: string;
  privateKey: string;
  userHandle?: string;
  signCount: number;
}

export async function plugIn(context: BrowserContext, page: Page): Promise<Authenticator> {
  const session: CDPSession = await context.newCDPSession(page);
  await session.send("WebAuthn.enable");
  const { authenticatorId } = await session.send("WebAuthn.addVirtualAuthenticator", {
    options: {
      protocol: "ctap2",
      transport: "internal",
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  });
  return {
    async setVerified(isUserVerified) {
      await session.send("WebAuthn.setUserVerified", { authenticatorId, isUserVerified });
    },
    async credentials() {
      const { credentials } = await session.send("WebAuthn.getCredentials", { authenticatorId });
      return credentials;
    },
    async add(credential) {
      await session.send("WebAuthn.addCredential", { authenticatorId, credential });
    },
  };
}

/** An assertion as a page of anybody's could ask for it, with whatever challenge. */
export function assertAt(
  page: Page,
  wish: { challenge: string; rpId: string; userVerification: "required" | "discouraged" },
): Promise<{ id: string; response: Record<string, string> }> {
  return page.evaluate(async ({ challenge, rpId, userVerification }) => {
    const bytesOf = (text: string) =>
      Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (char) => char.charCodeAt(0));
    const textOf = (bytes: ArrayBuffer) =>
      btoa(String.fromCharCode(...new Uint8Array(bytes)))
        .replaceAll("+", "-")
        .replaceAll("/", "_")
        .replaceAll("=", "");
    const { credentials } = navigator as unknown as {
      credentials: {
        get(options: object): Promise<{ id: string; response: Record<string, ArrayBuffer> }>;
      };
    };
    const publicKey = { challenge: bytesOf(challenge), rpId, userVerification };
    const { id, response } = await credentials.get({ publicKey });
    const names = ["clientDataJSON", "authenticatorData", "signature"];
    return {
      id,
      response: Object.fromEntries(names.map((name) => [name, textOf(response[name] ?? new ArrayBuffer(0))])),
    };
  }, wish);
}
