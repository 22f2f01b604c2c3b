// One notification to one browser, through the push service it has chosen (RFC 8030).

import { PlatformError } from "../platform.ts";
import { postBytes } from "../platforms/post-json.ts";
import { encryptPush } from "./encrypt-push.ts";
import type { PushDevice } from "./push-store.ts";
import { type PushKey, vapidHeader } from "./vapid.ts";

export interface Pusher {
  readonly key: PushKey;
  /** `mailto:` or `https:`; push services ask for one. */
  readonly contact: string;
}

/** Later nobody needs it: what waits has ended, or was seen. */
const ttlSeconds = 3_600;

/** False where the browser does not want any more; faults that pass are thrown. */
export async function sendPush(
  { key, contact }: Pusher,
  { endpoint, p256dh, auth }: PushDevice,
  text: string,
  nowMs: number,
): Promise<boolean> {
  const headers = {
    authorization: vapidHeader(key, endpoint, contact, nowMs),
    "content-encoding": "aes128gcm",
    "content-type": "application/octet-stream",
    ttl: String(ttlSeconds),
    urgency: "high",
  };
  try {
    await postBytes(endpoint, headers, encryptPush({ p256dh, auth }, text));
    return true;
  } catch (error) {
    if (error instanceof PlatformError && (error.status === 404 || error.status === 410)) return false;
    throw error;
  }
}

/** The services that browsers use; others are asked only where the operator names them. */
const services = [
  "fcm.googleapis.com",
  "updates.push.services.mozilla.com",
  "web.push.apple.com",
  ".notify.windows.com",
  ".push.apple.com",
  ".push.services.mozilla.com",
];

/** `others`: origins that the operator has named. */
export function isPushEndpoint(endpoint: string, others: readonly string[] = []): boolean {
  const url = URL.parse(endpoint);
  if (url === null || endpoint.length > 2_048 || url.username !== "" || url.password !== "") return false;
  if (others.includes(url.origin)) return true;
  if (url.protocol !== "https:" || url.port !== "") return false;
  return services.some((one) => url.hostname === one || (one.startsWith(".") && url.hostname.endsWith(one)));
}
