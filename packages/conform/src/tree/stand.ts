// What the cases of the tree share: tokens, registrants and callers for segments nobody else has.
import { randomBytes } from "node:crypto";
import { setTimeout as wait } from "node:timers/promises";
import type { Seen } from "../rooms/room-member.ts";
import type { Target } from "../target.ts";
import { type McpCaller, openMcpCaller } from "./mcp-caller.ts";
import { openRegistrant, type Registrant, type RegistrantOptions, registration } from "./registrant.ts";

export interface Stand {
  readonly target: Target;
  /** A segment of this case alone. */
  readonly segment: string;
  /** A token that may register `segment`, with the right to offer tools that change things. */
  token(): Promise<string>;
  /** Opened with that token, not yet registered. */
  visitor(options?: Partial<RegistrantOptions>): Promise<Registrant>;
  /** Opened and registered; a refusal is a difference. */
  subserver(options?: Partial<RegistrantOptions>): Promise<Registrant & { session: string }>;
  caller(): Promise<McpCaller>;
  /** The tool of that local name in `segment`, or `undefined`. */
  find(caller: McpCaller, name: string): Promise<Seen | undefined>;
  /** The same, given the time in which a list may be old. */
  awaited(caller: McpCaller, name: string): Promise<Seen>;
  close(): Promise<void>;
}

/** Reads only, and says so. */
export const harmless = {
  latency_class: "fast",
  consistency: "strong",
  mutable: false,
  reversible: true,
  idempotent: true,
  transport: "uart_cbor",
  auth_scope: "read",
  cost_class: "free",
  availability: "online",
  schema_version: "1.0",
};

export function tool(name: string, capability?: object): object {
  const meta = capability === undefined ? {} : { _meta: { "x-mcpax-capability": capability } };
  return { name, description: `${name} of the conformance kit`, inputSchema: { type: "object" }, ...meta };
}

export function createStand(target: Target): Stand {
  const segment = `conform-${randomBytes(4).toString("hex")}`;
  const open: Registrant[] = [];
  const token = () => target.mint({ sub: segment, segment, scope: "write" });
  const visitor = async (options: Partial<RegistrantOptions> = {}) => {
    const registrant = await openRegistrant(target, {
      token: "token" in options ? options.token : await token(),
      tools: [tool("status", harmless)],
      ...options,
    });
    open.push(registrant);
    return registrant;
  };
  const find = async (caller: McpCaller, name: string) =>
    (await caller.tools()).find((one) => isNamed(one.name, segment, name));
  return {
    target,
    segment,
    token,
    visitor,
    async subserver(options) {
      const registrant = await visitor(options);
      const { result, error } = await registrant.ask("mcpax/register", registration(segment));
      if (error !== undefined) throw new Error(`mcpax/register was refused: ${error.message}`);
      return Object.assign(registrant, { session: result.session_id as string });
    },
    caller: async () =>
      openMcpCaller(target, await target.mint({ sub: `${segment}-caller`, tools: ["**"], topics: [] })),
    find,
    async awaited(caller, name) {
      const deadline = Date.now() + 10_000;
      for (;;) {
        const found = await find(caller, name);
        if (found !== undefined) return found;
        if (Date.now() > deadline) throw new Error(`${segment}.${name} is not listed`);
        await wait(50);
      }
    },
    async close() {
      for (const registrant of open) await registrant[Symbol.asyncDispose]();
    },
  };
}

/** With a root segment configured it stands before the others. */
function isNamed(name: string, segment: string, local: string): boolean {
  return name === `${segment}.${local}` || name.endsWith(`.${segment}.${local}`);
}
