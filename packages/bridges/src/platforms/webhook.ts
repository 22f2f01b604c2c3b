// A webhook: every proposal, and every change of one, as a signed POST. Headers and signature are those of Standard
// Webhooks, so that libraries of many languages verify them; `verifyWebhook` is ours. It only tells: nothing is decided
// by what comes back.
import { createHash, createHmac, timingSafeEqual } from "node:crypto";
import type { Platform } from "../platform.ts";
import { type Post, plainText } from "../text/post.ts";
import { postJson } from "./post-json.ts";

export interface WebhookOptions {
  readonly url: string;
  /** `whsec_` and at least 24 bytes in base64. Asked for at each call. */
  secret(): string;
}

export function createWebhookPlatform({ url, secret }: WebhookOptions): Platform {
  const tell = async (event: "opened" | "changed", channel: string, ref: string, post: Post, id: string) => {
    const body = JSON.stringify({
      type: `proposal.${event}`,
      timestamp: new Date().toISOString(),
      data: { channel, card: ref, text: plainText(post), link: post.link?.url ?? null },
    });
    await postJson(url, signWebhook(secret(), id, Date.now(), body), body);
  };
  return {
    can: {
      buttons: false,
      edits: "in place",
      carries: "cards",
      charsMax: 10_000,
      pace: { perSecond: 10, burst: 20 },
    },
    start: async () => void keyOf(secret()),
    // The same post tried again has the same id, by which the receiver drops doubles.
    async post(channel, post, key) {
      const ref = createHash("sha256").update(key).digest("hex").slice(0, 32);
      await tell("opened", channel, ref, post, `msg_${ref}`);
      return ref;
    },
    edit: (channel, ref, post) => tell("changed", channel, ref, post, `msg_${crypto.randomUUID()}`),
    whisper: async () => {},
    close: async () => {},
  };
}

/** The headers of Standard Webhooks. */
export function signWebhook(secret: string, id: string, nowMs: number, body: string): Record<string, string> {
  const timestamp = String(Math.floor(nowMs / 1_000));
  return {
    "webhook-id": id,
    "webhook-timestamp": timestamp,
    "webhook-signature": `v1,${signature(secret, id, timestamp, body).toString("base64")}`,
  };
}

function signature(secret: string, id: string, timestamp: string, body: string): Buffer {
  return createHmac("sha256", keyOf(secret)).update(`${id}.${timestamp}.${body}`).digest();
}

function keyOf(secret: string): Buffer {
  const key = Buffer.from(secret.replace(/^whsec_/, ""), "base64");
  if (!secret.startsWith("whsec_") || key.length < 24) {
    throw new RangeError("a webhook's secret is whsec_ and at least 24 bytes in base64");
  }
  return key;
}

const toleranceMs = 300_000;

export interface ReceivedWebhook {
  headers: Readonly<Record<string, string | undefined>>;
  /** To the byte as it came. */
  body: string;
}

/** Remembers ids for as long as their time is good: a replay is refused. One for each receiver. */
export function createWebhookVerifier(
  secret: string,
): (received: ReceivedWebhook, nowMs: number) => "good" | "forged" | "stale" | "replayed" {
  const seen = new Map<string, number>();
  return ({ headers, body }, nowMs) => {
    const {
      "webhook-id": id = "",
      "webhook-timestamp": timestamp = "",
      "webhook-signature": given = "",
    } = headers;
    const wanted = signature(secret, id, timestamp, body);
    const isSigned = given.split(" ").some((one) => {
      const [version, text = ""] = one.split(",", 2);
      const bytes = Buffer.from(text, "base64");
      return version === "v1" && bytes.length === wanted.length && timingSafeEqual(bytes, wanted);
    });
    if (!isSigned) return "forged";
    const at = /^\d{1,12}$/.test(timestamp) ? Number(timestamp) * 1_000 : Number.NaN;
    if (!(Math.abs(nowMs - at) <= toleranceMs)) return "stale";
    for (const [old, until] of seen) if (until < nowMs) seen.delete(old);
    if (seen.has(id)) return "replayed";
    seen.set(id, at + 2 * toleranceMs);
    return "good";
  };
}
