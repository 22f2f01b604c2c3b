// What the page of `browser.test.ts` loads: the client, its guard, and the cases of its store.
export { joinRoom } from "@mcpx/client";
export { createIndexedDbAccessStore, createKey } from "@mcpx/client/guard";
export { accessStoreCases } from "../../../packages/client/src/guard/access-store-cases.ts";
