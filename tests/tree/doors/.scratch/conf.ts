import http from "node:http";
import { once } from "node:events";
import { spawn } from "node:child_process";
import { createIdentity, createListener, createLogger, openState, systemClock } from "@mcpx/host";
import { defaultLimits } from "@mcpx/protocol";
import { createHttpDoor } from "../../../../packages/aggregator/src/doors/http.ts";
import { createScriptedTree } from "../scripted-tree.ts";
const log = createLogger({ level: "warn" });
const identity = createIdentity({ db: openState(":memory:"), clock: systemClock, log });
const { token } = await identity.tokens.mint({ sub: "a", topics: [], tools: ["**"] }, { ttlMs: 3600_000 });
const door = createHttpDoor({ tree: createScriptedTree(), identity, log, clock: systemClock, limits: defaultLimits, issuers: [], profiles: [] });
const listener = createListener({ host: "127.0.0.1", port: 0, limits: defaultLimits, log, routes: door.routes });
const { port } = await listener.start();
const proxy = http.createServer((q, s) => { const origin=q.headers.origin?.replace(String((proxy.address() as any).port), String(port)); const o = http.request({ port, host: "127.0.0.1", method: q.method, path: q.url, headers: { ...q.headers, ...(origin?{origin}:{}), host: (q.headers.host??"").replace(String((proxy.address() as any).port), String(port)), authorization: `Bearer ${token}` } }, (r) => { s.writeHead(r.statusCode ?? 500, r.headers); r.pipe(s); r.on("error",()=>s.destroy()); }); q.pipe(o); o.on("error", () => s.destroy()); s.on("close", () => o.destroy()); });
proxy.listen(0, "127.0.0.1"); await once(proxy, "listening");
const url = `http://127.0.0.1:${(proxy.address() as any).port}/mcp`;
for (const [rev, scenarios] of [["2025-11-25", ["server-initialize","ping","logging-set-level","tools-list","server-sse-multiple-streams","dns-rebinding-protection","resources-subscribe"]],["2026-07-28", ["server-stateless","http-header-validation","server-sse-multiple-streams","dns-rebinding-protection","tools-list","caching"]]] as const)
 for (const sc of scenarios) { const p = spawn("node_modules/.bin/conformance", ["server","--url",url,"--scenario",sc,"--spec-version",rev],{stdio:["ignore","pipe","pipe"], env:{...process.env}}); let t=""; p.stdout.on("data",c=>t+=c); p.stderr.on("data",c=>t+=c); await once(p,"exit"); console.log("=====",rev,sc, p.exitCode); console.log(t.split("\n").filter(l=>/FAIL|✗|error|Passed|WARN/i.test(l)).slice(0,30).join("\n")); }
process.exit(0);
