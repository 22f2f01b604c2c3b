// Members that have the shape of a secret and are none: an approver has to compare them before signing. Pure.
import { isObject } from "../json/json-rpc.ts";

const sha256 = /^[A-Za-z0-9_-]{43}$/;
/** The arguments of a change of the gates, which the gateway itself writes: `after` is the hash of its chain's head. */
const gateChangeKeys = "after,changes,entry,what";
const publicJwkKeys: Readonly<Record<string, readonly string[]>> = {
  OKP: ["x"],
  EC: ["x", "y"],
  RSA: ["n", "e"],
};

/** Whether this member of `parent` is the hash in a change of the gates, or the public half of a key (RFC 7517). */
export function isPublicMember(parent: unknown, key: string): boolean {
  if (!isObject(parent)) return false;
  const value = parent[key];
  if (typeof value !== "string") return false;
  if (key === "after") return Object.keys(parent).sort().join() === gateChangeKeys && sha256.test(value);
  return typeof parent.kty === "string" && publicJwkKeys[parent.kty]?.includes(key) === true;
}
