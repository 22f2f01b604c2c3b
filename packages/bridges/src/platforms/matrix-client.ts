// Calls to the homeserver, as the application service's own user.
import { isObject, type JsonObject } from "@mcpx/protocol";
import { PlatformError } from "../platform.ts";

export interface MatrixClient {
  /** `path` is written with `matrixPath`. */
  call(method: "GET" | "POST" | "PUT", path: string, body?: JsonObject): Promise<JsonObject>;
}

const answerMs = 10_000;
const retryDefaultMs = 5_000;

export function createMatrixClient(homeserver: string, asToken: () => string): MatrixClient {
  const base = homeserver.replace(/\/$/, "");
  return {
    async call(method, path, body) {
      let response: Response;
      try {
        response = await fetch(`${base}${path}`, {
          method,
          headers: { authorization: `Bearer ${asToken()}`, "content-type": "application/json" },
          ...(body !== undefined && { body: JSON.stringify(body) }),
          // The token is for this address and no other.
          redirect: "error",
          signal: AbortSignal.timeout(answerMs),
        });
      } catch (cause) {
        throw new PlatformError("down", "the Matrix homeserver cannot be reached", { cause });
      }
      const answer: unknown = await response.json().catch(() => undefined);
      if (response.ok && isObject(answer)) return answer;
      throw faultOf(response, isObject(answer) ? answer : {});
    },
  };
}

/** Parts of a path, each encoded: room ids have `!` and `:`, events `$`. */
export function matrixPath(literals: TemplateStringsArray, ...parts: string[]): string {
  return literals.map((literal, index) => literal + encodeURIComponent(parts[index] ?? "")).join("");
}

/** Somebody can mend these while posts wait: they are not thrown away. */
const mendable: readonly unknown[] = ["M_UNKNOWN_TOKEN", "M_MISSING_TOKEN", "M_FORBIDDEN"];

function faultOf(
  { status, headers }: Response,
  { errcode, error, retry_after_ms: retryMs }: JsonObject,
): PlatformError {
  const said = `the Matrix homeserver answered ${status}: ${String(errcode ?? "no code")}, ${String(error ?? "no reason")}`;
  if (status === 429) {
    const seconds = Number(headers.get("retry-after") ?? Number.NaN);
    const retryAfterMs = typeof retryMs === "number" ? retryMs : seconds * 1_000 || retryDefaultMs;
    return new PlatformError("busy", said, { retryAfterMs });
  }
  const isPassing = status >= 500 || status === 408 || mendable.includes(errcode);
  return new PlatformError(isPassing ? "down" : "refused", said, { cause: { errcode, status } });
}

export function errcodeOf(error: unknown): unknown {
  return error instanceof PlatformError && isObject(error.cause) ? error.cause.errcode : undefined;
}

/** The homeserver has decided it: the same call again would get the same answer. */
export function isFinal(error: unknown): boolean {
  const { cause } = error as { cause?: unknown };
  if (!(error instanceof PlatformError) || !isObject(cause)) return false;
  const { status, errcode } = cause;
  return (
    typeof status === "number" &&
    status >= 400 &&
    status < 500 &&
    status !== 408 &&
    errcode !== "M_UNKNOWN_TOKEN"
  );
}
