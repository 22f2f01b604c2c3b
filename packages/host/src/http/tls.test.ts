import { generateKeyPairSync, type KeyObject, sign } from "node:crypto";
import { once } from "node:events";
import { request } from "node:https";
import { connect } from "node:tls";
import { expect, test } from "vitest";
import { get, sendRaw, start, statusOf } from "./listener-cases.ts";

/** DER: a tag, a length, and what is inside. */
function der(tag: number, ...inside: Uint8Array[]): Buffer {
  const content = Buffer.concat(inside);
  const length = content.length < 128 ? [content.length] : [0x82, content.length >> 8, content.length & 0xff];
  return Buffer.concat([Buffer.from([tag, ...length]), content]);
}

/** A certificate for `localhost`, signed by its own Ed25519 key. */
function selfSigned(publicKey: KeyObject, privateKey: KeyObject): string {
  const ed25519 = der(0x30, Buffer.from("06032b6570", "hex"));
  const commonName = der(0x30, Buffer.from("0603550403", "hex"), der(0x0c, Buffer.from("localhost")));
  const name = der(0x30, der(0x31, commonName));
  const time = (year: number) => der(0x18, Buffer.from(`${year}0101000000Z`));
  const body = der(
    0x30,
    der(0xa0, Buffer.from("020102", "hex")),
    Buffer.from("020101", "hex"),
    ed25519,
    name,
    der(0x30, time(2020), time(2100)),
    name,
    publicKey.export({ type: "spki", format: "der" }),
  );
  const signature = der(0x03, Buffer.from([0]), sign(null, body, privateKey));
  const base64 = der(0x30, body, ed25519, signature).toString("base64");
  return `-----BEGIN CERTIFICATE-----\n${base64.match(/.{1,64}/g)?.join("\n")}\n-----END CERTIFICATE-----\n`;
}

const { publicKey, privateKey } = generateKeyPairSync("ed25519");
const cert = selfSigned(publicKey, privateKey);
const key = privateKey.export({ type: "pkcs8", format: "pem" }).toString();

async function versionSpoken(port: number, maxVersion: "TLSv1.2" | "TLSv1.3"): Promise<string | null> {
  const socket = connect({ port, host: "127.0.0.1", ca: cert, servername: "localhost", maxVersion });
  await once(socket, "secureConnect");
  const version = socket.getProtocol();
  socket.destroy();
  return version;
}

test("over TLS the same answers come, and the same strangers are refused", async () => {
  const { port, url } = await start({ tls: { cert, key } });
  expect(url).toBe(`https://127.0.0.1:${port}`);
  const ask = async (headers: Record<string, string>) => {
    const asked = request({ port, path: "/hello", ca: cert, servername: "localhost", agent: false, headers });
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
