// Where a client may have its codes sent. The library compares a redirect with those registered, exactly but for the
// port of a loopback address; here it is judged what may be registered at all. Pure.

const loopbacks = new Set(["127.0.0.1", "[::1]", "localhost"]);
const schemeShape = /^[a-z][a-z0-9+.-]{1,63}:$/;
/** Those that run something, show something or are of another protocol; no program registers one as its own. */
const foreignSchemes = new Set(
  ["javascript", "vbscript", "data", "blob", "file", "about", "filesystem", "view-source", "ws", "wss", "ftp"]
    .concat(["mailto", "tel", "sms", "intent", "chrome", "resource", "jar", "mcpx"])
    .map((scheme) => `${scheme}:`),
);
const charsMax = 1_000;
export const redirectsMax = 10;

/** Why a client may not have its codes sent there; `undefined` where it may. */
export function redirectFault(redirect: unknown): string | undefined {
  if (typeof redirect !== "string" || redirect.length > charsMax)
    return "must be a string of at most 1000 characters";
  const url = URL.parse(redirect);
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what a parser leaves out without a word
  if (url === null || /[\u0000-\u0020\\\u007f]/.test(redirect)) return "must be an absolute address";
  if (redirect.includes("#")) return "must not have a fragment";
  if (url.username !== "" || url.password !== "") return "must not have a user or a password";
  if (url.protocol === "https:") return undefined;
  if (url.protocol === "http:")
    return loopbacks.has(url.hostname)
      ? undefined
      : "must be https, or http on 127.0.0.1, [::1] or localhost";
  if (!schemeShape.test(url.protocol) || foreignSchemes.has(url.protocol))
    return `must not use the scheme ${url.protocol}`;
  return undefined;
}

export type RedirectPlace =
  | { readonly kind: "site"; readonly host: string }
  | { readonly kind: "program"; readonly host: string }
  | { readonly kind: "scheme"; readonly host: string };

/** Who gets the code, in the words a person can check. */
export function placeOf(redirect: string): RedirectPlace {
  const url = new URL(redirect);
  if (url.protocol === "https:") return { kind: "site", host: url.host };
  if (url.protocol === "http:") return { kind: "program", host: url.host };
  return { kind: "scheme", host: url.protocol };
}

/** For lists: without what may be a secret. */
export function withoutQuery(redirect: string): string {
  const url = new URL(redirect);
  url.search = "";
  return url.href;
}
