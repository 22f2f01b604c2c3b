// A push service on loopback, strict about RFC 8030, 8188, 8291 and 8292: what a real one would refuse, it refuses. The
// browser's side of a subscription is here too, so that a message can be opened.
import { createDecipheriv, createECDH, createPublicKey, hkdfSync, randomBytes, verify } from "node:crypto";
import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";

export interface PushService {
  readonly origin: string;
  /** What browsers were told, opened; or why it was refused. */
  readonly heard: { device: string; text?: string; fault?: string }[];
  /** Answers of the next requests; 201 where there are none. */
  readonly answers: { status: number; headers?: Record<string, string> }[];
  subscribe(device: string): { endpoint: string; keys: { p256dh: string; auth: string } };
  close(): Promise<void>;
}

interface Browser {
  ecdh: ReturnType<typeof createECDH>;
  auth: Buffer;
}

export async function startPushService(): Promise<PushService> {
  const browsers = new Map<string, Browser>();
  const heard: PushService["heard"] = [];
  const answers: PushService["answers"] = [];
  const server = createServer(async (request, response) => {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part);
    const body = Buffer.concat(parts);
    const device = (request.url ?? "").slice(1);
    const browser = browsers.get(device);
    const answer = answers.shift();
    if (browser === undefined || answer !== undefined) {
      response.writeHead(answer?.status ?? 410, answer?.headers).end();
      return;
    }
    const fault = faultOf(request.method, request.headers, body, origin());
    heard.push(fault === undefined ? { device, text: open(browser, body) } : { device, fault });
    response.writeHead(fault === undefined ? 201 : 400).end(fault);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const origin = () => `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    get origin() {
      return origin();
    },
    heard,
    answers,
    subscribe(device) {
      const ecdh = createECDH("prime256v1");
      ecdh.generateKeys();
      const auth = randomBytes(16);
      browsers.set(device, { ecdh, auth });
      const keys = { p256dh: ecdh.getPublicKey("base64url"), auth: auth.toString("base64url") };
      return { endpoint: `${origin()}/${device}`, keys };
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function faultOf(
  method: string | undefined,
  headers: IncomingHttpHeaders,
  body: Buffer,
  origin: string,
): string | undefined {
  if (method !== "POST") return "only POST";
  if (!/^\d+$/.test(String(headers.ttl))) return "no TTL";
  if (headers["content-encoding"] !== "aes128gcm") return "no aes128gcm";
  if (body.length > 4_096 || body.length < 103) return "a body of another size";
  const [, token = "", key = ""] =
    /^vapid t=([\w.-]+), k=([\w-]+)$/.exec(String(headers.authorization)) ?? [];
  const [head = "", claims = "", signature = ""] = token.split(".");
  const point = Buffer.from(key, "base64url");
  if (point.length !== 65 || point[0] !== 4) return "no key of P-256";
  const jwk = { kty: "EC", crv: "P-256", ...halvesOf(point) };
  const signed = { key: createPublicKey({ key: jwk, format: "jwk" }), dsaEncoding: "ieee-p1363" as const };
  if (!verify("sha256", Buffer.from(`${head}.${claims}`), signed, Buffer.from(signature, "base64url"))) {
    return "a wrong signature";
  }
  const { aud, exp, sub } = JSON.parse(Buffer.from(claims, "base64url").toString());
  if (aud !== origin) return `a token for ${aud}`;
  if (!(exp > Date.now() / 1_000) || exp > Date.now() / 1_000 + 86_400) return "a token of another time";
  return /^(mailto:|https:)/.test(sub) ? undefined : "nobody to write to";
}

function halvesOf(point: Buffer): { x: string; y: string } {
  return { x: point.subarray(1, 33).toString("base64url"), y: point.subarray(33).toString("base64url") };
}

function open({ ecdh, auth }: Browser, body: Buffer): string {
  const [salt, sender] = [body.subarray(0, 16), body.subarray(21, 86)];
  const info = Buffer.concat([Buffer.from("WebPush: info\0"), ecdh.getPublicKey(), sender]);
  const secret = Buffer.from(hkdfSync("sha256", ecdh.computeSecret(sender), auth, info, 32));
  const part = (name: string, length: number) =>
    Buffer.from(hkdfSync("sha256", secret, salt, Buffer.from(`Content-Encoding: ${name}\0`), length));
  const cipher = createDecipheriv("aes-128-gcm", part("aes128gcm", 16), part("nonce", 12));
  cipher.setAuthTag(body.subarray(-16));
  const plain = Buffer.concat([cipher.update(body.subarray(86, -16)), cipher.final()]);
  return plain.subarray(0, plain.lastIndexOf(2)).toString();
}
