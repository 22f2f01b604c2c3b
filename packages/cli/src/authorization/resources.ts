// The addresses of this gateway that clients sign in to. Pure.

export interface Place {
  kind: "tree" | "profile" | "room";
  /** The name of the profile or the room. */
  name: string | undefined;
}

const shapes: readonly [RegExp, Place["kind"]][] = [
  [/^\/mcp\/?$/, "tree"],
  [/^\/mcp\/([^/]+)$/, "profile"],
  [/^\/rooms\/([^/]+)\/mcp$/, "room"],
];

/** Which of them it is; `undefined` where it is none. */
export function placeAt(issuer: string, resource: string): Place | undefined {
  const url = URL.parse(resource);
  if (
    url === null ||
    url.origin !== issuer ||
    url.hash !== "" ||
    url.username !== "" ||
    resource.length > 1_000
  )
    return undefined;
  for (const [shape, kind] of shapes) {
    const match = shape.exec(url.pathname);
    const name = match === null ? undefined : decoded(match[1]);
    if (match !== null) return match[1] !== undefined && name === undefined ? undefined : { kind, name };
  }
  return undefined;
}

export function resourceFault(issuer: string, resource: string): string | undefined {
  if (placeAt(issuer, resource) !== undefined) return undefined;
  return `resource must be ${issuer}/mcp, ${issuer}/mcp/PROFILE or ${issuer}/rooms/ROOM/mcp`;
}

function decoded(part: string | undefined): string | undefined {
  try {
    return part === undefined ? undefined : decodeURIComponent(part);
  } catch {
    return undefined;
  }
}
