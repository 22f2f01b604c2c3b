// Tests of the tree name tools as the tree does; what clients see unasked is judged in `tests/clients`.

/** Asks for canonical names at `/mcp`, unless the address asks for others. */
export function canonicalUrl(url: string): string {
  const { pathname, searchParams } = new URL(url);
  return pathname === "/mcp" && !searchParams.has("names") ? `${url}?names=canonical` : url;
}
