// Signed envelopes: the keys a reader trusts, and what holds of texts that came from a gateway or from a file.
export type { ChainFinding, SignatureState, SignatureVerdict } from "@mcpx/protocol";
export { SignatureChains } from "@mcpx/protocol";
export { browserKey } from "./browser-key.ts";
export { createKey, keyFromJwk, keyFromPair } from "./create-key.ts";
export { createKeyBook, type KeyBook, type KeyBookOptions, parseKeyBook } from "./key-book.ts";
export { type HistoryReport, verifyHistory } from "./verify-history.ts";
export { verifyText } from "./verify-text.ts";
