// ntfy: a notification on the phone for every proposal, with the way to decide it. It only tells.
import type { Platform } from "../platform.ts";
import { cut, type Post } from "../text/post.ts";
import { postJson } from "./post-json.ts";

export interface NtfyOptions {
  /** The server: `https://ntfy.sh`, or another. */
  readonly url: string;
  /** An access token, where topics are protected. Asked for at each call. */
  token?(): string;
}

/** ntfy's own bound is 4 096 bytes, beyond which it makes a file of the text. */
const bytesMax = 4_096;
const titleCharsMax = 200;

export function createNtfyPlatform({ url, token }: NtfyOptions): Platform {
  return {
    can: {
      buttons: false,
      edits: "never",
      carries: "cards",
      charsMax: 2_000,
      // The public server gives 60 at once, then one in five seconds.
      pace: { perSecond: 0.2, burst: 30 },
    },
    // A token that cannot be had is told at the start, not when something waits.
    start: async () => void token?.(),
    async post(channel, post) {
      const headers = token === undefined ? {} : { authorization: `Bearer ${token()}` };
      const response = await postJson(url, headers, JSON.stringify(messageOf(channel, post)));
      const { id } = (await response.json()) as { id?: unknown };
      return String(id);
    },
    edit: async () => {},
    whisper: async () => {},
    close: async () => {},
  };
}

function messageOf(topic: string, { parts, link }: Post): object {
  const [title, ...rest] = parts.map(({ text }) => text);
  return {
    topic,
    title: cut((title ?? "").replaceAll("\n", " "), titleCharsMax),
    message: withinBytes(rest.join("\n")),
    tags: ["raised_hand"],
    priority: 4,
    ...(link && { click: link.url, actions: [{ action: "view", label: link.label, url: link.url }] }),
  };
}

function withinBytes(text: string): string {
  let end = text.length;
  while (Buffer.byteLength(cut(text, end)) > bytesMax) end -= 100;
  return cut(text, end);
}
