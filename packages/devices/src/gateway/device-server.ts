// The MCP server that a device is in the tree: its tools, and calls handed on. A fresh one for every connection. Our
// own, because the SDK's server turns -32002 into another code. [AX-13.2-1]
import type { ServableServer } from "@mcpx/client/subserver";
import { capabilityKey, cautious, isObject, type JsonObject } from "@mcpx/protocol";
import { schemaOf } from "../tools/field.ts";
import { callDevice } from "./call-device.ts";
import type { ToolConfig } from "./device-config.ts";
import { fieldsOf, type Stub } from "./stub.ts";

export interface ServedDevice {
  readonly segment: string;
  readonly transport: string;
  readonly stub: Stub;
  /** Since when it has been silent, by the wall clock; `undefined`: it is there. */
  silentSince(): Date | undefined;
  /** Notifications may come from now on. */
  heard(): void;
}

export interface DeviceServer extends ServableServer {
  /** Somebody is connected, and has said that notifications may come. */
  readonly isHeard: boolean;
  /** Where somebody is connected. */
  notify(notification: JsonObject): Promise<void>;
}

interface Transport {
  onmessage?: ((message: JsonObject) => void) | undefined;
  start(): Promise<void>;
  send(message: JsonObject): Promise<void>;
  close(): Promise<void>;
}

/** The newest revision with sessions first; a client that asks for an older one gets it. */
const revisions = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"];
const retryAfterMs = 5_000;

type Answer = { result: JsonObject } | { error: JsonObject };

export function createDeviceServer(device: ServedDevice): DeviceServer {
  const open = new Map<unknown, AbortController>();
  let transport: Transport | undefined;
  let isHeard = false;
  const hear = async (message: JsonObject) => {
    const { id, method } = message;
    const params = isObject(message.params) ? message.params : {};
    if (method === "notifications/cancelled") open.get(params.requestId)?.abort();
    if (method === "notifications/initialized") {
      isHeard = true;
      device.heard();
    }
    if (id === undefined || typeof method !== "string") return;
    const calling = new AbortController();
    open.set(id, calling);
    const answer = await answerTo(device, method, params, calling.signal);
    open.delete(id);
    // A caller that has cancelled the call does not wait for it.
    if (!calling.signal.aborted) await transport?.send({ jsonrpc: "2.0", id, ...answer });
  };
  return {
    connect: async (given: Transport) => {
      transport = given;
      // A connection that has ended meanwhile has nobody to be told.
      given.onmessage = (message) => void hear(message).catch(() => given.close());
      await given.start();
    },
    get isHeard() {
      return isHeard;
    },
    notify: async (notification) => {
      await transport?.send(notification);
    },
    close: async () => {
      isHeard = false;
      const ending = transport;
      transport = undefined;
      for (const calling of open.values()) calling.abort();
      await ending?.close();
    },
  };
}

async function answerTo(
  device: ServedDevice,
  method: string,
  params: JsonObject,
  signal: AbortSignal,
): Promise<Answer> {
  switch (method) {
    case "initialize":
      return { result: introduce(device, params.protocolVersion) };
    case "ping":
      return { result: {} };
    case "tools/list":
      return { result: { tools: device.stub.tools().map((tool) => describe(tool, device)) } };
    case "tools/call":
      return callTool(device, params, signal);
    default:
      return { error: { code: -32601, message: "Method not found" } };
  }
}

function introduce({ segment }: ServedDevice, asked: unknown): JsonObject {
  return {
    protocolVersion: revisions.find((revision) => revision === asked) ?? (revisions[0] as string),
    capabilities: { tools: { listChanged: true } },
    serverInfo: { name: segment, version: "1.0.0" },
  };
}

async function callTool(device: ServedDevice, params: JsonObject, signal: AbortSignal): Promise<Answer> {
  const { stub, silentSince } = device;
  const tool = stub.tools().find(({ name }) => name === params.name);
  if (tool === undefined) return { error: { code: -32602, message: "Unknown tool" } };
  const since = silentSince();
  if (since !== undefined) return { error: degraded(since) };
  return { result: await callDevice(stub, tool, params.arguments, signal) };
}

function degraded(since: Date): JsonObject {
  const detail = "the device does not answer";
  return {
    code: -32002,
    message: "tool_degraded",
    data: {
      reason: "subserver_unreachable",
      detail,
      since: since.toISOString(),
      retry_after_ms: retryAfterMs,
    },
  };
}

function describe(tool: ToolConfig, { transport, silentSince }: ServedDevice): JsonObject {
  const capability = { ...cautious, latency_class: "fast", ...tool.capability, transport };
  const isSilent = silentSince() !== undefined;
  return {
    name: tool.name,
    ...(tool.description !== undefined && { description: tool.description }),
    inputSchema: schemaOf(fieldsOf(tool.arguments)),
    outputSchema: schemaOf(fieldsOf(tool.result)),
    annotations: {
      readOnlyHint: !capability.mutable,
      destructiveHint: capability.mutable && !capability.reversible,
      idempotentHint: capability.idempotent,
      openWorldHint: false,
    },
    _meta: { [capabilityKey]: isSilent ? { ...capability, availability: "degraded" } : capability },
  };
}
