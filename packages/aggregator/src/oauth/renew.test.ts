import { createManualClock } from "@mcpx/host";
import { expect, test } from "vitest";
import { scratch } from "../testing/scratch.ts";
import type { Credential } from "./credential-store.ts";
import { someCredential } from "./credential-store-cases.ts";
import { createFileCredentialStore } from "./credential-store-files.ts";
import type { OAuthState } from "./oauth-state.ts";
import { renew } from "./renew.ts";

const asked = new Error("the authorization server was asked");

/** What one gateway holds, and what the store has meanwhile. */
async function stateWith(held: Credential, stored: Credential | undefined): Promise<OAuthState> {
  const store = await createFileCredentialStore(scratch());
  await store.write("one", stored);
  return {
    ...{ key: "one", store, clock: createManualClock(), held, authoriseTimeoutMs: 1, authorisedAt: [] },
    ...{ show: undefined, nobody: undefined, renewing: undefined, renewedAt: Number.NEGATIVE_INFINITY },
    party: () => Promise.reject(asked),
  };
}

test("tokens that another gateway has renewed are taken from the store, and the used refresh token is not used again", async () => {
  const renewed = { ...someCredential, tokens: { access: "fresh", refresh: "next" } };
  const state = await stateWith(someCredential, renewed);
  expect(await renew(state)).toBe(true);
  expect(state.held).toEqual(renewed);
});

test.each<[string, Credential | undefined]>([
  ["the same tokens", someCredential],
  ["nothing", undefined],
  ["tokens of another client", { ...someCredential, client: { id: "other" }, tokens: { access: "x" } }],
  [
    "tokens for another address",
    { ...someCredential, url: "https://other.example/", tokens: { access: "x" } },
  ],
])("control: where the store has %s, the authorization server is asked", async (_what, stored) => {
  const state = await stateWith(someCredential, stored);
  await expect(renew(state)).rejects.toBe(asked);
  expect(state.held).toEqual(someCredential);
});
