// A whole server with gates as they are by default, devices registered in it, and an official client at its endpoint.
import { randomUUID } from "node:crypto";
import { type Device, type DeviceConfig, type DeviceEvent, type OpenLine, openDevice } from "@mcpx/devices";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { createListening } from "../../support/listening.ts";
import { startTestServer } from "../../support/test-server.ts";

export interface DeviceTree extends AsyncDisposable {
  readonly client: Client;
  open(config: DeviceConfig, openLine: OpenLine): Promise<{ device: Device; events: DeviceEvent[] }>;
  /** What the tools of a segment are called below it. */
  toolsOf(segment: string): Promise<string[]>;
  availability(name: string): Promise<unknown>;
  // biome-ignore lint/suspicious/noExplicitAny: whatever a tool answers
  call(name: string, args?: Record<string, unknown>): Promise<any>;
}

export async function startDeviceTree(): Promise<DeviceTree> {
  const server = await startTestServer({ config: { gates: { hold: 0 } } });
  const devices: Device[] = [];
  const client = new Client({ name: "unmodified", version: "1.0.0" });
  const token = await server.token({ sub: "alice", topics: [], tools: ["**"] });
  const requestInit = { headers: { authorization: `Bearer ${token}` } };
  const listening = createListening();
  const url = new URL(`${server.url}/mcp?names=canonical`);
  await client.connect(new StreamableHTTPClientTransport(url, { requestInit, fetch: listening.fetch }));
  await listening.opened;
  const list = async () => (await client.listTools()).tools;
  return {
    client,
    open: async (config, openLine) => {
      const { segment } = config;
      const claims = { sub: `of:${segment}`, topics: [], segment, scope: "write" };
      const registration = {
        token: await server.token(claims as never),
        subserverId: randomUUID(),
        heartbeatMs: 5_000,
      };
      const events: DeviceEvent[] = [];
      const onEvent = (event: DeviceEvent) => void events.push(event);
      const device = openDevice({ config, openLine, url: server.url, registration, onEvent });
      devices.push(device);
      return { device, events };
    },
    toolsOf: async (segment) =>
      (await list())
        .map(({ name }) => name)
        .filter((name) => name.startsWith(`${segment}.`))
        .map((name) => name.slice(segment.length + 1))
        .sort(),
    availability: async (name) => {
      const meta = (await list()).find((tool) => tool.name === name)?._meta;
      return (meta?.["x-mcpax-capability"] as { availability?: unknown } | undefined)?.availability;
    },
    call: (name, args = {}) => client.callTool({ name, arguments: args }),
    [Symbol.asyncDispose]: async () => {
      await client.close();
      for (const device of devices) await device[Symbol.asyncDispose]();
      await server.stop();
    },
  };
}
