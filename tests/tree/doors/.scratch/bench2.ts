import { spawn } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:http";
import { createIdentity, createListener, createLogger, openState, systemClock } from "@mcpx/host";
import { defaultLimits } from "@mcpx/protocol";
import { createHttpDoor } from "../../../../packages/aggregator/src/doors/http.ts";
const log = createLogger({ level: "warn" });
const db = openState(":memory:");
const identity = createIdentity({ db, clock: systemClock, log });
const { token } = await identity.tokens.mint({ sub: "a", topics: [], tools: ["**"] }, { ttlMs: 3600_000 });
const tree: any = { describe: async () => ({ info: { name: "x", version: "1" }, capabilities: {}, instructions: undefined }),
  handle: async (e: any) => ({ resultType: "complete", content: [{ type: "text", text: e.params.arguments.text }] }) };
const door = createHttpDoor({ tree, identity, log, clock: systemClock, limits: defaultLimits, issuers: [], profiles: [] });
const listener = createListener({ host: "127.0.0.1", port: 0, limits: defaultLimits, log, routes: door.routes });
const { url } = await listener.start();
const raw = createServer((req, res) => { const c: Buffer[] = []; req.on("data", (d) => c.push(d)); req.on("end", () => { const m = JSON.parse(Buffer.concat(c).toString()); const t = JSON.stringify({ jsonrpc: "2.0", id: m.id, result: { resultType: "complete", content: [{ type: "text", text: m.params.arguments.text }] } }); res.writeHead(200, { "content-type": "application/json", "content-length": Buffer.byteLength(t) }); res.end(t); }); });
raw.listen(0, "127.0.0.1"); await once(raw, "listening");
const rawUrl = `http://127.0.0.1:${(raw.address() as any).port}/mcp`;
async function run(u: string, n: number) { const before = process.cpuUsage(); const p = spawn(process.execPath, [new URL("./client.mjs", import.meta.url).pathname, u, token, String(n)], { stdio: "inherit" }); await once(p, "exit"); const d = process.cpuUsage(before); return (d.user + d.system) / n; }
await run(`${url}/mcp`, 5000);
for (let i = 0; i < 2; i++) console.log((await run(`${url}/mcp`, 20000)).toFixed(1));
process.exit(0);
