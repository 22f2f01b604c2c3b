// What a page with signed envelopes loads.
export { joinRoom } from "@mcpx/client";
export { browserKey, createKeyBook } from "@mcpx/client/signing";
