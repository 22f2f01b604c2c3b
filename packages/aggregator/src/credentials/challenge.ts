// What a server says in WWW-Authenticate when it refuses. Pure; the text is hostile.

export interface Challenge {
  error?: string;
  scope?: string;
  /** Where the server describes itself as a protected resource. */
  resourceMetadata?: URL;
}

const lengthMax = 4_096;
// A scheme is a word without `=`; everything up to the next such word belongs to it.
const part = /[\s,]*([\w!#$%&'*+.^`|~-]+)(?:[ \t]*=[ \t]*(?:"((?:[^"\\]|\\.)*)"|([^\s,"]+)))?/y;
const scopes = /^[\x21\x23-\x5b\x5d-\x7e]+(?: [\x21\x23-\x5b\x5d-\x7e]+)*$/;

/** The first Bearer challenge of the header. */
export function parseChallenge(header: string | undefined): Challenge {
  if (header === undefined || header.length > lengthMax) return {};
  const found = bearerParams(header);
  const { error, scope, resource_metadata: address } = Object.fromEntries(found);
  const resourceMetadata = address === undefined ? null : URL.parse(address);
  return {
    ...(error !== undefined && { error }),
    ...(scope !== undefined && scopes.test(scope) && { scope }),
    ...(resourceMetadata && { resourceMetadata }),
  };
}

function bearerParams(header: string): Map<string, string> {
  const params = new Map<string, string>();
  let scheme = "";
  part.lastIndex = 0;
  for (let match = part.exec(header); match; match = part.exec(header)) {
    const [, name = "", quoted, plain] = match;
    const value = quoted?.replace(/\\(.)/g, "$1") ?? plain;
    if (value === undefined) {
      if (scheme === "bearer") break;
      scheme = name.toLowerCase();
    } else if (scheme === "bearer" && !params.has(name.toLowerCase())) {
      params.set(name.toLowerCase(), value);
    }
  }
  return params;
}
