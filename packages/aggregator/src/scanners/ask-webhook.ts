// A scanner at an address: the question is posted, and the answer is its verdict.
import type { Scanner } from "./scanner.ts";

export interface WebhookOptions {
  url: string;
  /** Asked for at each question: secrets can be replaced meanwhile. */
  headers(id: string, body: string): Readonly<Record<string, string>>;
  /** The largest answer. */
  bytesMax: number;
}

export function askWebhook({ url, headers, bytesMax }: WebhookOptions): Scanner["ask"] {
  return async (question, signal) => {
    const body = JSON.stringify(question);
    const response = await fetch(url, {
      method: "POST",
      headers: { ...headers(`scan_${crypto.randomUUID()}`, body), "content-type": "application/json" },
      body,
      // What it is told is for this address and no other.
      redirect: "error",
      signal,
    });
    if (!response.ok) {
      await response.body?.cancel();
      throw new Error(`${URL.parse(url)?.host} answered ${response.status}`);
    }
    return JSON.parse(await bounded(response, bytesMax));
  };
}

async function bounded(response: Response, bytesMax: number): Promise<string> {
  const parts: Uint8Array[] = [];
  let size = 0;
  for await (const bytes of response.body ?? []) {
    size += bytes.length;
    if (size > bytesMax) throw new Error(`its answer is longer than ${bytesMax} bytes`);
    parts.push(bytes);
  }
  return Buffer.concat(parts).toString();
}
