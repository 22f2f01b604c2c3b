// What an aggregator's refusals mean, in whatever form they come: an answer, a close code, an HTTP status.
import { closeCodes, isObject, mayComeBack } from "@mcpx/protocol";
import { retryAfter } from "../core/retry-after.ts";
import { asError, RoomError } from "../core/room-error.ts";

const word = /^[a-z_]{1,64}$/;

/** Nothing will change by trying again there. A circle is none of them: it ends when the tree that closes it leaves. */
const final: ReadonlySet<string> = new Set([
  "authority_unproven",
  "bad_option",
  "bad_params",
  "namespace_conflict",
  "server_failed",
  "token_expired",
  "token_revoked",
  "unauthorised",
]);

/** What may be so for a while after it had worked: an aggregator that restarts, a token that has run out. */
const healing: ReadonlySet<string> = new Set([
  "namespace_conflict",
  "server_failed",
  "token_expired",
  "token_revoked",
  "unauthorised",
]);

/** Whether this aggregator will not have us as we are. */
export function isFinal({ reason, code = 0 }: RoomError, hasRegistered: boolean): boolean {
  if (hasRegistered && healing.has(reason)) return false;
  return final.has(reason) || (code >= 4400 && code < 4500);
}

/** Somebody else has come with our id and our proof; going anywhere would only put us into the tree twice. */
export function isReplaced({ code }: RoomError): boolean {
  return code === closeCodes.replaced;
}

/** Of a JSON-RPC error. */
export function answeredError(error: unknown): RoomError {
  const { code, message, data } = isObject(error) ? error : {};
  const { reason, retry_after_ms: retryAfterMs } = isObject(data) ? data : {};
  return new RoomError(
    typeof reason === "string" ? reason : "refused",
    typeof message === "string" ? message : "the aggregator refused",
    {
      ...(typeof code === "number" && { code }),
      ...(isObject(data) && { data }),
      ...retryAfter(retryAfterMs),
    },
  );
}

/** Of a WebSocket's end. 44xx: not as we are; 45xx and the network's own: come back. */
export function closedError(code: number, reason: string): RoomError {
  const message = `the connection ended (${code} ${reason})`.replace(" )", ")");
  // Where libraries tell the status of what was not even opened, they do it in words.
  if (code === 1006 && /response: 40[13]\b/.test(reason)) return new RoomError("unauthorised", message);
  if (mayComeBack(code)) return new RoomError("network", message);
  if (code === closeCodes.unauthorised) return new RoomError("unauthorised", message, { code });
  return new RoomError(word.test(reason) ? reason : "refused", message, { code });
}

/** Of an HTTP answer: with an error of ours in it, or with a status alone. */
export function statusError({ status, headers }: Response, body: unknown): RoomError {
  const error = isObject(body) && isObject(body.error) ? body.error : {};
  if (isObject(error.data)) return answeredError(error);
  const wait = retryAfter(Number(headers.get("retry-after")) * 1_000);
  if (typeof error.reason === "string") {
    return new RoomError(error.reason, String(error.message ?? error.reason), { data: error, ...wait });
  }
  const reason = status === 401 || status === 403 ? "unauthorised" : "network";
  return new RoomError(reason, `the aggregator answered ${status}`, wait);
}

/** An error of an unknown kind is taken for a failure of the network. */
export function asRoomError(thrown: unknown): RoomError {
  if (thrown instanceof RoomError) return thrown;
  return new RoomError("network", asError(thrown).message, { cause: thrown });
}
