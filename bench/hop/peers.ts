// Other hops, from npm: installed on demand beside our own packages' cache, never into them, and started as their
// own documentation says.
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { freePort, type Started, startCommand, untilListening } from "./started.ts";

const versions = { "mcp-proxy": "6.7.19", supergateway: "4.0.0", "mcp-hub": "4.2.1" } as const;
const cacheDir = new URL("../../node_modules/.cache/bench-peers", import.meta.url).pathname;
const packages = join(cacheDir, "node_modules");

export function installPeers(note: (line: string) => void): void {
  const missing = Object.entries(versions).filter(([name, version]) => installed(name) !== version);
  if (missing.length === 0) return;
  const wanted = missing.map(([name, version]) => `${name}@${version}`);
  note(`hop: installing ${wanted.join(", ")}`);
  mkdirSync(cacheDir, { recursive: true });
  const manifest = join(cacheDir, "package.json");
  if (!existsSync(manifest)) writeFileSync(manifest, '{"private": true}\n');
  const args = [
    "install",
    "--prefix",
    cacheDir,
    "--save-exact",
    "--no-audit",
    "--no-fund",
    "--loglevel=error",
  ];
  const { status } = spawnSync("npm", [...args, ...wanted], { stdio: ["ignore", 2, 2], timeout: 120_000 });
  if (status !== 0) throw new Error("npm could not install the peers; see its message above");
}

function installed(name: string): string | undefined {
  const manifest = join(packages, name, "package.json");
  return existsSync(manifest) ? JSON.parse(readFileSync(manifest, "utf8")).version : undefined;
}

export interface Peer extends Started {
  url: string;
}

export async function startMcpProxy(backend: readonly string[], home: string): Promise<Peer> {
  const bin = join(packages, "mcp-proxy", "dist", "bin", "mcp-proxy.mjs");
  const port = await freePort();
  const args = [bin, "--host", "127.0.0.1", "--port", String(port), "--server", "stream", "--", ...backend];
  return ready(startCommand(args, { cwd: home, home }), port);
}

export async function startMcpProxyHttp(backendUrl: string, home: string): Promise<Peer> {
  const bin = new URL("./mcp-proxy-http.ts", import.meta.url).pathname;
  const port = await freePort();
  const args = [bin, packages, String(port), backendUrl];
  return ready(startCommand(args, { cwd: home, home }), port);
}

export async function startSupergateway(backend: readonly string[], home: string): Promise<Peer> {
  const bin = join(packages, "supergateway", "dist", "index.js");
  const port = await freePort();
  const command = backend.map((word) => `'${word}'`).join(" ");
  // Stateless, it would start a process for every call.
  const how = ["--outputTransport", "streamableHttp", "--stateful", "--logLevel", "none"];
  const args = [bin, "--stdio", command, "--port", String(port), ...how];
  return ready(startCommand(args, { cwd: home, home }), port);
}

/** Its endpoint for MCP clients is the SSE transport; its tools are called `bench__echo`. */
export async function startMcpHub(server: Record<string, unknown>, home: string): Promise<Peer> {
  const bin = join(packages, "mcp-hub", "dist", "cli.js");
  const port = await freePort();
  const config = join(home, "mcp-hub.json");
  writeFileSync(config, JSON.stringify({ mcpServers: { bench: server } }));
  const peer = await ready(
    startCommand([bin, "--port", String(port), "--config", config], { cwd: home, home }),
    port,
  );
  // It listens before it knows its servers.
  const isReady = async () => {
    const health = await fetch(`http://127.0.0.1:${port}/api/health`);
    return JSON.parse(await health.text()).state === "ready";
  };
  for (let tries = 0; !(await isReady()); tries += 1) {
    if (tries === 200) throw new Error(`mcp-hub does not become ready: ${peer.lastWords()}`);
    await sleep(100);
  }
  return peer;
}

async function ready(started: Started, port: number): Promise<Peer> {
  await untilListening(`http://127.0.0.1:${port}/`, started);
  return { ...started, url: `http://127.0.0.1:${port}/mcp` };
}
