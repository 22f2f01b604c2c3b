import { once } from "node:events";
import { request } from "node:https";
import { connect as connectPlain } from "node:net";
import { connect } from "node:tls";
import { defaultLimits } from "@mcpx/protocol";
import { describe, expect, test } from "vitest";
import { makeAuthority, makeCertificate } from "../certificates/make-certificate.ts";
import { get, sendRaw, start, statusOf } from "./listener-cases.ts";

const span = { from: new Date("2020-01-01T00:00:00Z"), until: new Date("2100-01-01T00:00:00Z") };
const authority = makeAuthority({ name: "tests", ...span });
const { cert, key } = makeCertificate({ use: "server", names: ["localhost"], ...span }, authority);
const ca = authority.cert;

async function versionSpoken(port: number, maxVersion: "TLSv1.2" | "TLSv1.3"): Promise<string | null> {
  const socket = connect({ port, host: "127.0.0.1", ca, servername: "localhost", maxVersion });
  await once(socket, "secureConnect");
  const version = socket.getProtocol();
  socket.destroy();
  return version;
}

test("over TLS the same answers come, and the same strangers are refused", async () => {
  const { port, url } = await start({ tls: { cert, key } });
  expect(url).toBe(`https://127.0.0.1:${port}`);
  const ask = async (headers: Record<string, string>) => {
    const asked = request({ port, path: "/hello", ca, servername: "localhost", agent: false, headers });
    asked.end();
    const [response] = await once(asked, "response");
    response.resume();
    return response.statusCode;
  };
  expect(await ask({})).toBe(200);
  expect(await ask({ origin: `https://localhost:${port}` })).toBe(200);
  expect(await ask({ origin: `http://localhost:${port}` })).toBe(403);
  expect(await ask({ host: "evil.example" })).toBe(421);
});

test("with TLS other addresses than loopback may be listened on", async () => {
  const { port } = await start({ host: "0.0.0.0", tls: { cert, key } });
  expect(await versionSpoken(port, "TLSv1.3")).toBe("TLSv1.3");
});

test("TLS 1.3 is the least, unless configured", async () => {
  const strict = await start({ tls: { cert, key } });
  expect(await versionSpoken(strict.port, "TLSv1.3")).toBe("TLSv1.3");
  await expect(versionSpoken(strict.port, "TLSv1.2")).rejects.toThrow();
  const lax = await start({ tls: { cert, key, minVersion: "TLSv1.2" } });
  expect(await versionSpoken(lax.port, "TLSv1.2")).toBe("TLSv1.2");
});

test("plain HTTP at a TLS port gets nothing", async () => {
  const { port } = await start({ tls: { cert, key } });
  expect(statusOf(await sendRaw(port, get("/hello", ["Host: localhost"])))).not.toBe(200);
});

describe("[X0-9-4] who does not shake hands", () => {
  test.each([
    ["says nothing", ""],
    ["begins and says no more", "\u0016\u0003\u0001"],
  ])("and %s is ended after the handshake time; others are served meanwhile", async (_what, bytes) => {
    const { port } = await start({ tls: { cert, key }, limits: { ...defaultLimits, handshakeMs: 500 } });
    const ended = sendRaw(port, bytes);
    expect(await versionSpoken(port, "TLSv1.3")).toBe("TLSv1.3");
    expect(await ended).toBe("");
  });

  test("is ended with all others when the grace is over", async () => {
    const { listener, port } = await start({
      tls: { cert, key },
      limits: { ...defaultLimits, handshakeMs: 60_000 },
    });
    const silent = connectPlain(port, "127.0.0.1");
    silent.on("error", () => {});
    await once(silent, "connect");
    // Taken after the silent one, which is therefore taken too.
    const shaken = connect({ port, host: "127.0.0.1", ca, servername: "localhost" });
    shaken.on("error", () => {});
    await once(shaken, "secureConnect");
    const closed = Promise.all([silent, shaken].map((socket) => once(socket.resume(), "close")));
    await listener.close({ graceMs: 20 });
    await closed;
  });
});
