// Values of `Mcp-Name` and `Mcp-Param-*`: as they are where a header can hold them, else in base64.

const plain = /^[\x21-\x7e](?:[\t\x20-\x7e]*[\x21-\x7e])?$/;
const encoded = /^=\?base64\?.*\?=$/;

export function headerValue(value: string): string {
  if (plain.test(value) && !encoded.test(value)) return value;
  return `=?base64?${Buffer.from(value, "utf8").toString("base64")}?=`;
}

/** What a header says; `undefined` where its base64 is none. */
export function decodedHeader(value: string): string | undefined {
  if (!encoded.test(value)) return value;
  const text = value.slice("=?base64?".length, -"?=".length);
  const bytes = Buffer.from(text, "base64");
  return bytes.toString("base64") === text ? bytes.toString("utf8") : undefined;
}
