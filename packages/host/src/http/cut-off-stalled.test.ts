import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { connect as connectTls } from "node:tls";
import { defaultLimits } from "@mcpx/protocol";
import { describe, expect, onTestFinished, test } from "vitest";
import { makeAuthority, makeCertificate } from "../certificates/make-certificate.ts";
import { lines, start, statusOf } from "./listener-cases.ts";
import type { Route } from "./routes.ts";

const span = { from: new Date("2020-01-01T00:00:00Z"), until: new Date("2100-01-01T00:00:00Z") };
const authority = makeAuthority({ name: "tests", ...span });
const tls = makeCertificate({ use: "server", names: ["localhost"], ...span }, authority);

/** More than the sockets of both sides take. */
const much = "x".repeat(30_000_000);

function routesWithMuch() {
  const gone = Promise.withResolvers<void>();
  const go = Promise.withResolvers<void>();
  const routes: Route[] = [
    {
      method: "GET",
      path: "/much",
      handle: (request) => {
        request.onGone(() => gone.resolve());
        return { text: much };
      },
    },
    {
      method: "GET",
      path: "/much-in-bits",
      handle: (request) => {
        request.onGone(() => gone.resolve());
        return {
          stream: (out) => {
            out.write(much);
            out.end();
          },
        };
      },
    },
    { method: "GET", path: "/slow", handle: () => go.promise.then(() => ({ text: "slow" })) },
  ];
  return { routes, gone: gone.promise, go: go.resolve };
}

const ask = (path: string) => `GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`;

describe.each([
  ["in plain", undefined],
  ["over TLS", tls],
])("%s", (_how, tls) => {
  async function begin(queueStallMs: number) {
    const { routes, gone, go } = routesWithMuch();
    // So much may wait that streams are not cut off for it.
    const limits = { ...defaultLimits, queueStallMs, queueBytesMax: 2 ** 30 };
    const { port } = await start({ routes, limits, tls });
    const peer: Socket =
      tls === undefined
        ? connect(port, "127.0.0.1")
        : connectTls({ port, host: "127.0.0.1", ca: authority.cert, servername: "localhost" });
    peer.on("error", () => {});
    onTestFinished(() => void peer.destroy());
    await once(peer, tls === undefined ? "connect" : "secureConnect");
    return { peer, gone, go };
  }

  test.each(["/much", "/much-in-bits"])("[X0-9-4] who reads nothing of %s is cut off", async (path) => {
    const { peer, gone } = await begin(200);
    peer.write(ask(path));
    await gone;
    expect(lines).toEqual([]);
  });

  test("[X0-9-4] who reads nothing and goes on sending is cut off too", async () => {
    const { peer, gone } = await begin(500);
    peer.write(ask("/much"));
    const sending = setInterval(() => peer.write("\r\n"), 50);
    await gone;
    clearInterval(sending);
  });

  test.each(["/much", "/much-in-bits"])("who reads %s slowly gets all of it", async (path) => {
    const stallMs = 500;
    const { peer } = await begin(stallMs);
    const begunAt = performance.now();
    let bytes = 0;
    let untilRest = 1_000_000;
    peer.on("data", (chunk: Buffer) => {
      bytes += chunk.length;
      untilRest -= chunk.length;
      if (untilRest > 0) return;
      untilRest = 1_000_000;
      peer.pause();
      setTimeout(() => peer.resume(), 40);
    });
    peer.write(ask(path));
    await expect.poll(() => bytes).toBeGreaterThan(much.length);
    // It was not so fast that nobody could have minded.
    expect(performance.now() - begunAt).toBeGreaterThan(2 * stallMs);
    peer.write(ask("/nothing"));
    await once(peer, "data");
  });

  test("an answer that waits for an earlier one does not stall; once it is its turn it may", async () => {
    const stallMs = 100;
    const { peer, gone, go } = await begin(stallMs);
    let isGone = false;
    void gone.then(() => {
      isGone = true;
    });
    peer.write(ask("/slow") + ask("/much"));
    await new Promise((resolve) => setTimeout(resolve, 5 * stallMs));
    expect(isGone).toBe(false);
    go();
    const [first] = await once(peer, "data");
    expect(statusOf(String(first))).toBe(200);
    peer.pause();
    await gone;
  });
});
