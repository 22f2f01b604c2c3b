// A mosquitto of our own on a free port, and a device that speaks JSON through it.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { connectAsync, type MqttClient } from "mqtt";

export interface Broker extends AsyncDisposable {
  readonly url: string;
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as { port: number };
  server.close();
  await once(server, "close");
  return port;
}

export async function startBroker(): Promise<Broker> {
  const directory = await mkdtemp(join(tmpdir(), "mcpx-broker-"));
  const port = await freePort();
  const config = join(directory, "mosquitto.conf");
  await writeFile(config, `listener ${port} 127.0.0.1\nallow_anonymous true\nset_tcp_nodelay true\n`);
  const child = spawn("/usr/sbin/mosquitto", ["-c", config], { stdio: "ignore" });
  const url = `mqtt://127.0.0.1:${port}`;
  for (let isUp = false; !isUp; ) {
    if (child.exitCode !== null) throw new Error("mosquitto has ended");
    isUp = await connectAsync(url, { reconnectPeriod: 0 }).then(
      async (client) => {
        await client.endAsync();
        return true;
      },
      () => pause(20, false),
    );
  }
  return {
    url,
    [Symbol.asyncDispose]: async () => {
      const exited = once(child, "exit");
      child.kill();
      await exited;
      await rm(directory, { recursive: true, force: true });
    },
  };
}

/** The demonstration's three tools, by an MQTT client that knows nothing of ours. */
export async function connectJsonDevice(url: string, name: string): Promise<MqttClient> {
  const topic = (last: string) => `mcpx/devices/${name}/${last}`;
  const client = await connectAsync(url, {
    will: { topic: topic("gone"), payload: Buffer.alloc(0), qos: 1 },
  });
  const registration = { 0: 1, 1: "ZGVtbw==", 2: 1_024, 4: { 1: "BQ==", 2: "BQA=", 3: "BQA=" } };
  let led = false;
  const say = (message: object) => client.publish(topic("up"), JSON.stringify(message), { qos: 1 });
  const run = (method: number, params: Record<string, number> = {}): object => {
    if (method === -1) return { result: registration };
    if (method === 1) return { result: { 0: 2_150, 1: led, 2: 0 } };
    if (method === 2) led = params["0"] === 1;
    return method === 3 ? { error: { 0: 4 } } : { result: method === 2 ? { 0: led } : {} };
  };
  client.on("message", (_topic, payload) => {
    const { method, id, params } = JSON.parse(payload.toString());
    say({ id, ...run(method, params) });
  });
  await client.subscribeAsync(topic("down"), { qos: 1 });
  say({ method: -1, params: registration });
  return client;
}
