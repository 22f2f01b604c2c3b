// Ids for envelopes. `crypto.randomUUID` is missing on pages served without TLS; random bytes are everywhere.

export function newId(): string {
  let id = "";
  for (const byte of crypto.getRandomValues(new Uint8Array(16))) id += byte.toString(16).padStart(2, "0");
  return id;
}
