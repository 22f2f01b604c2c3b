// A stub of either profile, as the gateway sees it: told what arrives on its line, asked to call and to show itself.
import type { Field, Values } from "../tools/field.ts";
import type { Conversation, DeviceOutcome } from "./conversation.ts";
import type { DeviceConfig, ToolConfig } from "./device-config.ts";
import type { SaidEvent } from "./read-event.ts";

interface StubEvents {
  /** Something on the line could not be read. */
  dropped(why: string): void;
  /** It said something that can be read: it is there. */
  heard(): void;
  /** An event of the configuration has happened. */
  said(event: SaidEvent): void;
  /** The device has restarted by itself. */
  restarted(): void;
  /** Another device is at the other end now; nothing is asked of it until the right one was greeted. */
  replaced(): void;
}

export interface Stub {
  readonly conversation: Conversation;
  /** A fresh line has a fresh reader: half a frame belongs to the old one. */
  readLine(): (bytes: Uint8Array) => void;
  /** Asks who is there; what is wrong in words, `undefined` where it is the configured device. */
  greet(timeoutMs: number): Promise<string | undefined>;
  /** Whether it answered. */
  heartbeat(timeoutMs: number): Promise<boolean>;
  /** The configured tools that the stub has. */
  tools(): readonly ToolConfig[];
  call(tool: ToolConfig, values: Values, signal: AbortSignal | undefined): Promise<DeviceOutcome>;
  /** A string that says what is wrong. */
  read(tool: ToolConfig, outcome: Extract<DeviceOutcome, { kind: "result" }>): Values | string;
}

export type CreateStub = (config: DeviceConfig, events: StubEvents) => Stub;

/** Three attempts fit into the deadline of `fast` tools. */
export const callMsDefault = 1_000;

export const fieldsOf = (fields: readonly Field[] | undefined): readonly Field[] => fields ?? [];
