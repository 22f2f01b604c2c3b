// The gateway as the page asks it: same origin only, with the half of the login that only this page has.
import { isObject, type JsonObject } from "@mcpx/protocol";

export class ApiError extends Error {
  readonly status: number;
  readonly reason: string;
  readonly suggestion: string | undefined;

  constructor(status: number, reason: string, message: string, suggestion?: string) {
    super(message);
    this.name = "ApiError";
    this.status = status;
    this.reason = reason;
    this.suggestion = suggestion;
  }
}

export interface Api {
  /** Under `/console/api`. */
  call(method: "GET" | "POST" | "DELETE", path: string, body?: JsonObject | string): Promise<JsonObject>;
  /** At the page where people decide, which needs no login. */
  post(path: string, body: JsonObject): Promise<JsonObject>;
  /** A stream under `/console/api`, from after `lastId`; it ends with the signal. */
  follow(path: string, options: Following): Promise<ReadableStream<Uint8Array<ArrayBuffer>>>;
}

interface Following {
  lastId: string | undefined;
  signal: AbortSignal;
}

export interface ApiOptions {
  half(): string;
  fetch: typeof fetch;
  /** Before every path; `/console/api` unless given. */
  base?: string;
  /** Called when the login has ended. */
  onLoggedOut?(): void;
}

const answerMs = 30_000;
/** A decision goes out also where its page is left at that moment; browsers take 64 KiB of such requests together. */
const keptAliveCharsMax = 10_000;

export function createApi({ half, fetch, onLoggedOut, base = "/console/api" }: ApiOptions): Api {
  const ask = async (path: string, init: RequestInit): Promise<Response> => {
    try {
      return await fetch(path, { signal: AbortSignal.timeout(answerMs), ...init, redirect: "error" });
    } catch {
      throw new ApiError(0, "network", "The gateway cannot be reached.");
    }
  };
  const send = async (path: string, init: RequestInit): Promise<JsonObject> => {
    const response = await ask(path, init);
    const answer: unknown = await response.json().catch(() => undefined);
    if (response.ok) return isObject(answer) ? answer : {};
    throw refusal(response, answer);
  };
  const refusal = (response: Response, answer: unknown): ApiError => {
    const error = isObject(answer) && isObject(answer.error) ? answer.error : {};
    if (response.status === 401) onLoggedOut?.();
    return new ApiError(
      response.status,
      typeof error.reason === "string" ? error.reason : "unknown",
      typeof error.message === "string" ? error.message : `The gateway answered ${response.status}.`,
      typeof error.suggestion === "string" ? error.suggestion : undefined,
    );
  };
  const json = { "content-type": "application/json" };
  const posted = (body: JsonObject | string): Pick<RequestInit, "body" | "keepalive"> => {
    const text = typeof body === "string" ? body : JSON.stringify(body);
    return { body: text, keepalive: text.length <= keptAliveCharsMax };
  };
  return {
    call: (method, path, body) =>
      send(`${base}${path}`, {
        method,
        headers: { "x-mcpx-console": half(), ...(body !== undefined && json) },
        ...(body !== undefined && posted(body)),
      }),
    async follow(path, { lastId, signal }) {
      const headers = { "x-mcpx-console": half(), ...(lastId !== undefined && { "last-event-id": lastId }) };
      const response = await ask(`${base}${path}`, { headers, signal });
      if (response.ok && response.body !== null) return response.body;
      throw refusal(response, await response.json().catch(() => undefined));
    },
    post: (path, body) => send(path, { method: "POST", headers: json, ...posted(body) }),
  };
}

/** What went wrong, for a person. */
export function faultText(thrown: unknown): string {
  const { message, suggestion } = thrown as { message?: string; suggestion?: string };
  return [message ?? String(thrown), suggestion].filter((part) => part !== undefined).join(" · ");
}
