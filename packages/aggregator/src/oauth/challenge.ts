// What a server says in WWW-Authenticate when it refuses. Pure; the text is hostile.

export interface Challenge {
  error?: string;
  scope?: string;
  /** Where the server describes itself as a protected resource. */
  resourceMetadata?: URL;
}

const lengthMax = 4_096;
const scopeWord = /^[\x21\x23-\x5b\x5d-\x7e]+$/;

/** The first Bearer challenge of the header. */
export function parseChallenge(header: string | undefined): Challenge {
  if (header === undefined || header.length > lengthMax) return {};
  const found = bearerParams(header);
  const { error, scope, resource_metadata: address } = Object.fromEntries(found);
  const resourceMetadata = address === undefined ? null : URL.parse(address);
  return {
    ...(error !== undefined && { error }),
    ...(scope !== undefined && isScope(scope) && { scope }),
    ...(resourceMetadata && { resourceMetadata }),
  };
}

/** A word without a value is a scheme; everything up to the next such word belongs to it. */
function bearerParams(header: string): Map<string, string> {
  const params = new Map<string, string>();
  let scheme = "";
  let at = 0;
  const run = (characters: RegExp): string => {
    const start = at;
    while (at < header.length && characters.test(header.charAt(at))) at += 1;
    return header.slice(start, at);
  };
  for (;;) {
    run(/[\s,]/);
    const name = run(/[\w!#$%&'*+.^`|~-]/).toLowerCase();
    if (name === "") return params;
    run(/[ \t]/);
    if (header.charAt(at) !== "=") {
      if (scheme === "bearer") return params;
      scheme = name;
      continue;
    }
    at += 1;
    run(/[ \t]/);
    const value = header.charAt(at) === '"' ? quoted() : run(/[^\s,"]/);
    if (value === undefined) return params;
    if (scheme === "bearer" && value !== "" && !params.has(name)) params.set(name, value);
  }

  /** Undefined where it does not end. */
  function quoted(): string | undefined {
    let text = "";
    for (at += 1; at < header.length; at += 1) {
      if (header[at] === '"') {
        at += 1;
        return text;
      }
      if (header[at] === "\\") at += 1;
      text += header[at] ?? "";
    }
    return undefined;
  }
}

function isScope(text: string): boolean {
  return text.split(" ").every((word) => scopeWord.test(word));
}
