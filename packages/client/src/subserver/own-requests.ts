// Requests of this library to the aggregator. The ids are words, so that those of the served server, numbers in every SDK,
// are never taken for them.
import { isObject, type JsonObject } from "@mcpx/protocol";
import { RoomError } from "../core/room-error.ts";
import { answeredError } from "./refusal.ts";

const prefix = "mcpax-";

interface Open {
  resolve(result: JsonObject): void;
  reject(error: RoomError): void;
}

export class OwnRequests {
  readonly #open = new Map<string, Open>();
  #count = 0;

  /** The message to be sent, and what will be answered to it. */
  create(
    method: string,
    params: JsonObject,
    timeoutMs: number,
  ): { message: JsonObject; answer: Promise<JsonObject> } {
    this.#count += 1;
    const id = `${prefix}${this.#count}`;
    const { promise, resolve, reject } = Promise.withResolvers<JsonObject>();
    const timer = setTimeout(
      () => reject(new RoomError("timeout", `${method} was not answered in time`)),
      timeoutMs,
    );
    this.#open.set(id, { resolve, reject });
    const done = () => {
      clearTimeout(timer);
      this.#open.delete(id);
    };
    promise.then(done, done);
    return { message: { jsonrpc: "2.0", id, method, params }, answer: promise };
  }

  /** Whether it is an answer to one of these, also to one that nobody waits for any more. */
  take({ id, result, error }: JsonObject): boolean {
    if (typeof id !== "string" || !id.startsWith(prefix)) return false;
    const open = this.#open.get(id);
    if (isObject(result)) open?.resolve(result);
    else open?.reject(answeredError(error));
    return true;
  }

  fail(error: RoomError): void {
    for (const { reject } of [...this.#open.values()]) reject(error);
  }
}
