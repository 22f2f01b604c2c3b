// Fetching an issuer's key set: no redirects, and no more bytes than a key set can need.
import type { FetchImplementation } from "jose";

const bytesMax = 262_144;

export const fetchBounded: FetchImplementation = async (url, options) => {
  const response = await fetch(url, options);
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of response.body ?? []) {
    bytes += chunk.byteLength;
    if (bytes > bytesMax) throw new Error("the key set is too large");
    chunks.push(chunk);
  }
  return new Response(Buffer.concat(chunks), { status: response.status });
};
