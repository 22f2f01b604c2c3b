// Resource URIs under their server's segment: `mcpx://SEGMENT/` before the server's own URI, which stays as it is, so
// that it can be cut off again. Works for URI templates too. Pure. [B-TREE-2]

const scheme = "mcpx://";
/** Of the pages of MCP Apps: clients show nothing that has another scheme. */
const pageScheme = "ui://";

export function isPage(uri: unknown): uri is string {
  return typeof uri === "string" && uri.startsWith(pageScheme);
}

export function prefixUri(segment: string | undefined, uri: string): string {
  return segment === undefined ? uri : `${isPage(uri) ? pageScheme : scheme}${segment}/${uri}`;
}

/** The segment and the server's own URI; `undefined` for a URI without a prefix of this tree. */
export function splitUri(uri: string): { segment: string; rest: string } | undefined {
  const before = isPage(uri) ? pageScheme : scheme;
  if (!uri.startsWith(before)) return undefined;
  const slash = uri.indexOf("/", before.length);
  if (slash === -1) return undefined;
  const rest = uri.slice(slash + 1);
  // A page of a server's own has no other one behind it.
  if (isPage(uri) && !isPage(rest)) return undefined;
  return { segment: uri.slice(before.length, slash), rest };
}

/** Whether a URI may come from a template: what stands before its first variable must agree. */
export function mayFitTemplate(template: string, uri: string): boolean {
  const brace = template.indexOf("{");
  if (brace === -1) return template === uri;
  return brace > 0 && uri.length > brace && uri.startsWith(template.slice(0, brace));
}
