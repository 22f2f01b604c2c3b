// Resource URIs under their server's segment: `mcpx://SEGMENT/` before the server's own URI, which stays as it is, so
// that it can be cut off again. Works for URI templates too. Pure. [B-TREE-2]

const scheme = "mcpx://";

export function prefixUri(segment: string | undefined, uri: string): string {
  return segment === undefined ? uri : `${scheme}${segment}/${uri}`;
}

/** The segment and the server's own URI; `undefined` for what has no prefix of ours. */
export function splitUri(uri: string): { segment: string; rest: string } | undefined {
  if (!uri.startsWith(scheme)) return undefined;
  const slash = uri.indexOf("/", scheme.length);
  if (slash === -1) return undefined;
  return { segment: uri.slice(scheme.length, slash), rest: uri.slice(slash + 1) };
}

/** Whether a URI may come from a template: what stands before its first variable must agree. */
export function mayFitTemplate(template: string, uri: string): boolean {
  const brace = template.indexOf("{");
  if (brace === -1) return template === uri;
  return brace > 0 && uri.length > brace && uri.startsWith(template.slice(0, brace));
}
