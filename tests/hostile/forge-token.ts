// Tokens nobody minted: any header, any claims, signed by whichever key an attacker might come by.
import { createHmac, createPrivateKey, type KeyObject, sign } from "node:crypto";
import { join } from "node:path";
import { openState } from "@mcpx/host";
import type { TestServer } from "../support/test-server.ts";

export type Json = Record<string, unknown>;

const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64url");

/** A compact JWS over exactly this header and payload. */
export function jws(header: Json, payload: Json | string, seal: (signed: string) => Buffer): string {
  const body = typeof payload === "string" ? Buffer.from(payload).toString("base64url") : encode(payload);
  const signed = `${encode(header)}.${body}`;
  return `${signed}.${seal(signed).toString("base64url")}`;
}

/** By an Ed25519 key, or by another with a hash. */
export const sealedBy =
  (key: KeyObject, hash: string | null = null) =>
  (signed: string) =>
    sign(hash, Buffer.from(signed), { key, dsaEncoding: "ieee-p1363" });

/** What HS256 makes of bytes that everybody knows. */
export const hmacOf = (secret: string | Buffer) => (signed: string) =>
  createHmac("sha256", secret).update(signed).digest();

const orderOfP256 = 0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551n;

/** The same token with the other ECDSA signature that holds for it: anybody can make it from the first. */
export function withOtherSignature(token: string): string {
  const [header, payload, signature = ""] = token.split(".");
  const bytes = Buffer.from(signature, "base64url");
  const other = orderOfP256 - BigInt(`0x${bytes.subarray(32).toString("hex")}`);
  bytes.write(other.toString(16).padStart(64, "0"), 32, "hex");
  return `${header}.${payload}.${bytes.toString("base64url")}`;
}

/** The same token with the last letter of its signature changed in bits that mean nothing. */
export function withStrayBit(token: string): string {
  const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
  return `${token.slice(0, -1)}${letters[letters.indexOf(token.at(-1) ?? "") ^ 1]}`;
}

/** The gateway's own key: with it an attacker could say anything, and most of it must still not be believed. */
export async function ownKey(server: TestServer): Promise<{ kid: string; key: KeyObject }> {
  await server.token({ topics: [] });
  const db = openState(join(server.dataDir, "state.db"), { readOnly: true });
  const row = db.prepare("SELECT kid, private_jwk FROM signing_keys WHERE retired_at IS NULL").get();
  db.close();
  return {
    kid: String(row?.kid),
    key: createPrivateKey({ key: JSON.parse(String(row?.private_jwk)), format: "jwk" }),
  };
}
