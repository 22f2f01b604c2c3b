// An HTTP answer that is not the one asked for.
import { isObject, numberOf, parseExact } from "@mcpx/protocol";
import type { RpcFault } from "../mcp/rpc-error.ts";

export class HttpRefusal extends Error {
  readonly status: number;
  /** The JSON-RPC error its body had, if it had one. */
  readonly fault: RpcFault | undefined;

  constructor(status: number, fault: RpcFault | undefined) {
    const isRedirect = status >= 300 && status < 400;
    super(isRedirect ? `it answered ${status}: redirects are not followed` : `it answered ${status}`);
    this.name = "HttpRefusal";
    this.status = status;
    this.fault = fault;
  }

  /** Whether the request itself was refused, and not its sender or the server's own state. */
  get isAnswer(): boolean {
    return this.fault !== undefined && this.status >= 400 && this.status < 500 && !this.isForbidden;
  }

  get isForbidden(): boolean {
    return this.status === 401 || this.status === 403;
  }
}

/** The error in a body that may be anything. */
export function faultIn(body: string): RpcFault | undefined {
  let value: unknown;
  try {
    value = parseExact(body);
  } catch {
    return undefined;
  }
  return isObject(value) ? readFault(value.error) : undefined;
}

export function readFault(value: unknown): RpcFault | undefined {
  if (!isObject(value)) return undefined;
  const code = numberOf(value.code);
  if (code === undefined || !Number.isInteger(code) || typeof value.message !== "string") return undefined;
  return { code, message: value.message, ...(value.data !== undefined && { data: value.data }) };
}
