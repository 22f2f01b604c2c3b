// The cookie that binds a sign-in to the browser it was begun in, and the proof that a button was pressed on a page of
// ours in that browser.
import { createHmac, hash, randomBytes, timingSafeEqual } from "node:crypto";

/** Names the cookie of one ticket, without telling it. */
export function tagOf(ticket: string): string {
  return hash("sha256", `cookie ${ticket}`, "hex").slice(0, 16);
}

export function newBrowserSecret(): string {
  return randomBytes(32).toString("base64url");
}

export interface CookieWish {
  tag: string;
  /** Empty takes it away. */
  value: string;
  isSecure: boolean;
}

const lifeSeconds = 600;

/** `Lax`: it comes along when the authorization server sends the browser back, and with no form of another site. */
export function setCookie({ tag, value, isSecure }: CookieWish): string {
  const age = value === "" ? 0 : lifeSeconds;
  const bare = `${nameOf(tag, isSecure)}=${value}; Path=/; Max-Age=${age}; HttpOnly; SameSite=Lax`;
  return isSecure ? `${bare}; Secure` : bare;
}

/** What the browser has sent; nothing where it is there twice. */
export function readCookie(header: string | undefined, tag: string, isSecure: boolean): string | undefined {
  const start = `${nameOf(tag, isSecure)}=`;
  const found = (header ?? "").split(";").flatMap((part) => {
    const text = part.trim();
    return text.startsWith(start) ? [text.slice(start.length)] : [];
  });
  const [value] = found;
  return found.length === 1 && value !== undefined && /^[\w-]{43}$/.test(value) ? value : undefined;
}

export function proofOf(secret: Uint8Array, ticket: string, browser: string): string {
  return createHmac("sha256", secret)
    .update(JSON.stringify([ticket, browser]))
    .digest("base64url");
}

export function isProof(given: string | null, expected: string): boolean {
  const a = Buffer.from(given ?? "");
  const b = Buffer.from(expected);
  return a.length === b.length && timingSafeEqual(a, b);
}

/** `__Host-`: no other site, and no neighbour under the same name, can have set it. */
function nameOf(tag: string, isSecure: boolean): string {
  return `${isSecure ? "__Host-" : ""}mcpx-sign-in-${tag}`;
}
