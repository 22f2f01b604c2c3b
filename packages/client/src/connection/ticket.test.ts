import { afterEach, expect, test } from "vitest";
import { callGateway } from "./ticket.ts";

const { signal } = new AbortController();
/** Nothing listens there. */
const ask = () => callGateway("http://127.0.0.1:1/v0/tickets", "token", { method: "POST", body: {}, signal });

afterEach(() => {
  Reflect.deleteProperty(globalThis, "location");
});

test("a gateway that cannot be reached is named", async () => {
  await expect(ask()).rejects.toMatchObject({
    reason: "network",
    message: "the gateway at http://127.0.0.1:1 cannot be reached",
  });
});

test("in a page of another origin the error names listen.origins, and in the gateway's own page it does not", async () => {
  Object.assign(globalThis, { location: { origin: "https://app.example.com" } });
  await expect(ask()).rejects.toThrow(
    "or does not allow pages of https://app.example.com: add that to listen.origins of the gateway",
  );
  Object.assign(globalThis, { location: { origin: "http://127.0.0.1:1" } });
  await expect(ask()).rejects.toThrow(/cannot be reached$/);
});
