// What a legacy server is told aside from requests: which resources are watched, and how much it shall log. One
// request at a time, always towards what is wanted last.
import { isObject, type JsonObject } from "@mcpx/protocol";
import type { LogLevel } from "../mcp/era.ts";
import type { Conversation } from "./conversation.ts";
import { ownRequest } from "./own-request.ts";

const timeoutMs = 30_000;

export class Upkeep {
  /** As the server declared them. */
  capabilities: JsonObject = {};
  readonly #conversation: Conversation;
  /** What the server has been told. */
  readonly #watched = new Set<string>();
  #wanted: ReadonlySet<string> = new Set();
  #level: LogLevel | undefined;
  #toldLevel: LogLevel | undefined;
  #isBusy = false;

  constructor(conversation: Conversation) {
    this.#conversation = conversation;
  }

  watch(uris: ReadonlySet<string>): void {
    if (!isObject(this.capabilities.resources) || this.capabilities.resources.subscribe !== true) return;
    this.#wanted = new Set(uris);
    void this.#catchUp();
  }

  setLogLevel(level: LogLevel): void {
    if (!isObject(this.capabilities.logging)) return;
    this.#level = level;
    void this.#catchUp();
  }

  async #catchUp(): Promise<void> {
    if (this.#isBusy) return;
    this.#isBusy = true;
    for (let step = this.#next(); step !== undefined && !this.#conversation.isOver; step = this.#next()) {
      const { method, params } = step;
      try {
        const request = ownRequest(method, AbortSignal.timeout(timeoutMs));
        await this.#conversation.request(this.#conversation.nextId(), request, params);
      } catch (error) {
        if (this.#conversation.isOver) break;
        this.#conversation.logLine(`(${method}: ${error instanceof Error ? error.message : error})`);
      }
    }
    this.#isBusy = false;
  }

  /** Refused or not, each thing is told once. */
  #next(): { method: string; params: JsonObject } | undefined {
    if (this.#level !== this.#toldLevel) {
      this.#toldLevel = this.#level;
      return { method: "logging/setLevel", params: { level: this.#level } };
    }
    for (const uri of this.#wanted) {
      if (this.#watched.has(uri)) continue;
      this.#watched.add(uri);
      return { method: "resources/subscribe", params: { uri } };
    }
    for (const uri of this.#watched) {
      if (this.#wanted.has(uri)) continue;
      this.#watched.delete(uri);
      return { method: "resources/unsubscribe", params: { uri } };
    }
    return undefined;
  }
}
