// One POST, with its faults told apart: what passes, what is too much, and what will never be taken.
import { PlatformError } from "../platform.ts";

const answerMs = 10_000;

export function postJson(url: string, headers: Record<string, string>, body: string): Promise<Response> {
  return postBytes(url, { "content-type": "application/json", ...headers }, body);
}

export async function postBytes(
  url: string,
  headers: Record<string, string>,
  body: string | Uint8Array<ArrayBuffer>,
): Promise<Response> {
  let response: Response;
  try {
    response = await fetch(url, {
      method: "POST",
      headers,
      body,
      // A secret in a header is for this address and no other.
      redirect: "error",
      signal: AbortSignal.timeout(answerMs),
    });
  } catch (cause) {
    throw new PlatformError("down", `${URL.parse(url)?.host} cannot be reached`, { cause });
  }
  if (response.ok) return response;
  await response.body?.cancel();
  const said = `${URL.parse(url)?.host} answered ${response.status}`;
  if (response.status === 429) {
    throw new PlatformError("busy", said, {
      retryAfterMs: retryAfterMs(response.headers.get("retry-after")),
    });
  }
  const { status } = response;
  throw new PlatformError(status >= 500 || status === 408 ? "down" : "refused", said, { status });
}

const retryDefaultMs = 5_000;

/** Seconds or a date (RFC 9110); five seconds where it says nothing that can be read. */
function retryAfterMs(value: string | null, now = Date.now()): number {
  if (value === null) return retryDefaultMs;
  if (/^\d{1,6}$/.test(value)) return Number(value) * 1_000;
  const at = Date.parse(value);
  return Number.isNaN(at) ? retryDefaultMs : Math.max(0, at - now);
}
