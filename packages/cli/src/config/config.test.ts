import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { Failure } from "../framework/failure.ts";
import { serverSettings } from "../settings/server-settings.ts";
import { acceptFile } from "./accepted-files.ts";
import { loadConfig, parseConfig } from "./config.ts";

/** Every line that is said about a text. */
function faults(text: string): string[] {
  try {
    parseConfig(text, "mcpx.json");
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    return error.details.length > 0 ? [...error.details] : [error.message];
  }
  return [];
}

function scratch(): string {
  const dir = mkdtempSync(join(tmpdir(), "mcpx-cli-"));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  return dir;
}

test("comments and trailing commas are fine", () => {
  const text = `{
    // the port
    "listen": { "port": 1, /* and */ "host": "localhost", },
  }`;
  expect(parseConfig(text, "mcpx.json")).toEqual({ listen: { port: 1, host: "localhost" } });
  expect(parseConfig("\ufeff{}", "mcpx.json")).toEqual({});
});

test("a key that others call so is known by its meaning, before how it is spelt", () => {
  const text = '{"mcpServers": {"a": {"cmd": "x", "arguments": [], "cdw": "."}}}';
  const meant = faults(text).flatMap((line) => /did you mean (\w+)/.exec(line)?.[1] ?? []);
  expect(meant).toEqual(["command", "args", "cwd"]);
});

test("a syntax fault is told with its line and column", () => {
  expect(faults('{\n  "mode": "open"\n  "log": {}\n}')).toEqual([
    "mcpx.json:3:3 is not JSON: comma expected; correct it there; comments and trailing commas are fine",
  ]);
  expect(faults("")[0]).toMatch(/^mcpx.json:1:1 is not JSON/);
  expect(faults("{} {}")[0]).toMatch(/^mcpx.json:1:4 is not JSON/);
});

test("every fault is told at once, with its place, what was expected and a way out", () => {
  const text = `{
  "listen": { "port": "6279", "hsot": "::1" },
  "mode": "opne",
  "identities": { "alice": { "level": "admin" }, "b c": { "level": "full" } },
  "topics": { "demo": { "retention": { "age": "1 month", "count": 0 } } },
  "limits": { "depthMax": -1 },
  "log": [],
  "takeover": null
}`;
  expect(faults(text)).toEqual([
    'mcpx.json:2:15 listen.port: expected a whole number from 0 to 65535, for example 6279; found "6279"',
    "mcpx.json:2:31 listen.hsot: unknown key; did you mean host?",
    'mcpx.json:3:3 mode: expected one of "mixed", "secure", "open"; found "opne"; did you mean "open"?',
    'mcpx.json:4:30 identities.alice.level: expected one of "full", "responder", "restricted"; found "admin"',
    expect.stringMatching(
      /^mcpx.json:4:50 identities.b c: expected an id of 1 to 128 characters .*; found "b c"$/,
    ),
    expect.stringMatching(
      /^mcpx.json:5:40 topics.demo.retention.age: expected a duration .*; found "1 month"$/,
    ),
    expect.stringMatching(/^mcpx.json:5:58 topics.demo.retention.count: expected a whole number from 1/),
    expect.stringMatching(/^mcpx.json:6:15 limits.depthMax: expected a whole number from 1/),
    "mcpx.json:7:3 log: expected an object; found []",
    'mcpx.json:8:3 takeover: expected one of "replace", "refuse"; found null',
  ]);
});

test("a place for audit records has what its kind needs, and no plain text leaves the machine", () => {
  const place = (entry: object) => faults(JSON.stringify({ audit: { push: { siem: entry } } })).join("\n");
  const url = "https://siem.example.com/v1/logs";
  expect(place({ kind: "webhook", url })).toContain("needs secret for the kind webhook");
  expect(place({ kind: "otlp", url, ca: "ca.pem" })).toContain("has ca, which the kind otlp does not use");
  expect(place({ kind: "syslog", url })).toContain("for the kind syslog it begins with tls:// or tcp://");
  for (const [kind, plain] of [
    ["otlp", "http://siem.example.com"],
    ["syslog", "tcp://siem.example.com:601"],
  ]) {
    expect(place({ kind, url: plain })).toContain(
      "would send audit records in plain text to siem.example.com",
    );
    expect(place({ kind, url: plain, insecure: true })).toBe("");
  }
  expect(place({ kind: "syslog", url: "tcp://127.0.0.1:601" })).toBe("");
});

test("a scanner is an address or a server, and no plain text leaves the machine", () => {
  const scanner = (entry: object) => faults(JSON.stringify({ scanners: { dlp: entry } })).join("\n");
  expect(scanner({})).toContain("needs exactly one of url and server");
  expect(scanner({ server: "guard", secret: "s" })).toContain("has secret, which needs url; remove it");
  expect(scanner({ url: "https://dlp.example.com", tool: "scan" })).toContain("has tool, which needs server");
  expect(scanner({ url: "http://dlp.example.com/" })).toContain(
    "would send results in plain text to dlp.example.com",
  );
  expect(scanner({ url: "http://127.0.0.1:9/", deadline: "1s", tools: ["mail.**"] })).toBe("");
  expect(scanner({ server: "guard", whenDown: "let" })).toContain('one of "hold", "pass"');
});

test("a bridge has what its platform needs, and nothing of another", () => {
  const bridge = (entry: object) => faults(JSON.stringify({ bridges: { team: entry } })).join("\n");
  const channels = { "ops@muc.example.com": "ops" };
  const xmpp = { platform: "xmpp", channels, service: "xmpps://chat.example.com:5223", username: "mcpx" };
  expect(bridge({ ...xmpp })).toContain("needs password for the platform xmpp");
  expect(bridge({ ...xmpp, password: "p", secret: "s" })).toContain(
    "has secret, which the platform xmpp does not use",
  );
  expect(bridge({ ...xmpp, password: "p", component: true })).toContain("needs domain");
  expect(bridge({ ...xmpp, password: "p", component: true, domain: "bridge.example.com" })).toBe("");
  expect(bridge({ ...xmpp, password: "p", channels: {} })).toContain("has no channels");
  expect(bridge({ ...xmpp, password: "p", service: "https://chat.example.com" })).toContain("xmpp or xmpps");
  expect(bridge({ platform: "irc", channels })).toContain("platform");
  expect(() =>
    parseConfig(JSON.stringify({ bridges: { team: { ...xmpp, password: "p" } } }), "mcpx.json"),
  ).not.toThrow();
});

test("keys of later versions are refused as such", () => {
  const keys = ["cluster"];
  const text = JSON.stringify({
    ...Object.fromEntries(keys.map((key) => [key, {}])),
  });
  const lines = faults(text);
  expect(lines).toHaveLength(keys.length);
  for (const key of keys) {
    const line = `${key}: not supported by this version; remove it`;
    expect(lines).toContainEqual(expect.stringContaining(line));
  }
});

test("[AC-6-1] [AC-9-6] toolAccess is a word or a whole policy", () => {
  for (const value of ["off", "enforce", { mode: "open" }]) {
    expect(faults(JSON.stringify({ topics: { demo: { toolAccess: value } } }))).toEqual([]);
  }
  for (const value of ["on", true, {}, { mode: "open", rule: [] }]) {
    const text = JSON.stringify({ topics: { demo: { toolAccess: value } } });
    expect(faults(text)).toEqual([
      expect.stringContaining('topics.demo.toolAccess: expected "off", "enforce"'),
    ]);
  }
});

test("an unknown key far from all is answered with the known ones", () => {
  expect(faults('{"log": {"frobnicate": 1}}')).toEqual([
    "mcpx.json:1:10 log.frobnicate: unknown key; known here: level",
  ]);
});

test("a key given twice is a fault, and so is one that would vanish", () => {
  expect(faults('{"mode": "open", "mode": "mixed"}')).toEqual([
    "mcpx.json:1:2 mode: is given twice; keep one of them",
  ]);
  expect(faults('{"identities": {"__proto__": {"level": "full"}}}')).toEqual([
    "mcpx.json:1:17 identities.__proto__: cannot be a name; use another",
  ]);
});

test("what is required is missed", () => {
  expect(faults('{"listen": {"tls": {"cert": "a.pem"}}}')).toEqual([
    'mcpx.json:1:13 listen.tls.key: is missing; expected the path of a PEM file, for example "key.pem"',
  ]);
});

test("a rule may hold results, unless it denies the call", () => {
  const rule = (more: object) => JSON.stringify({ gates: { rules: [{ tools: "a.b", ...more }] } });
  for (const action of ["allow", "ask", "always_ask"]) {
    expect(faults(rule({ action, holdResult: true }))).toEqual([]);
  }
  expect(faults(rule({ action: "deny", holdResult: false }))).toEqual([]);
  expect(faults(rule({ action: "deny", holdResult: true }))).toEqual([
    expect.stringContaining("holdResult: a call that is denied has no result to hold; leave one of them out"),
  ]);
});

test("an issuer has keys in exactly one way, over a safe one", () => {
  const issuer = (more: object) => JSON.stringify({ issuers: [{ issuer: "https://a", ...more }] });
  const jwks = { keys: [{ kty: "OKP" }] };
  expect(faults(issuer({ jwks }))).toEqual([]);
  expect(faults(issuer({ jwksUri: "https://a/jwks", audience: ["x"], level: "full", admin: true }))).toEqual(
    [],
  );
  expect(faults(issuer({ jwksUri: "http://127.0.0.1:1/jwks" }))).toEqual([]);
  expect(faults(issuer({}))[0]).toContain("issuers[0]: needs exactly one of jwksUri and jwks");
  expect(faults(issuer({ jwks, jwksUri: "https://a" }))[0]).toContain("exactly one");
  expect(faults(issuer({ jwksUri: "http://a/jwks" }))[0]).toContain(
    "issuers[0].jwksUri: expected an https address",
  );
  expect(faults(issuer({ jwks, audience: 1 }))[0]).toContain(
    "issuers[0].audience: expected an audience or a list",
  );
});

test.each([
  ["hosts", "a b"],
  ["hosts", "https://a"],
  ["origins", "app.example.com"],
  ["origins", "https://app.example.com/"],
  ["origins", "null"],
])("listen.%s does not take %j", (key, value) => {
  expect(faults(JSON.stringify({ listen: { [key]: [value] } }))[0]).toContain(`listen.${key}[0]: expected`);
});

test.each(["localhost", "::1", "0.0.0.0", "mcpx.example.com"])("listen.host takes %s", (host) => {
  expect(faults(JSON.stringify({ listen: { host, hosts: ["mcpx.example.com:8443"] } }))).toEqual([]);
});

test("a ping that could never be answered in time is a fault", () => {
  expect(faults('{"limits": {"pingIntervalMs": 50000}}')[0]).toContain("pingTimeoutMs must be more");
});

test("--config wins over the working directory, which wins over the data directory once it was accepted", () => {
  const dir = scratch();
  const places = { cwd: join(dir, "cwd"), dataDir: join(dir, "data"), given: undefined };
  for (const place of [places.cwd, places.dataDir]) mkdirSync(place);
  expect(loadConfig(places)).toEqual({ path: undefined, config: {} });
  writeFileSync(join(places.dataDir, "mcpx.json"), '{"mode": "open"}');
  expect(loadConfig(places)).toEqual({ path: join(places.dataDir, "mcpx.json"), config: { mode: "open" } });
  writeFileSync(join(places.cwd, "mcpx.json"), '{"mode": "mixed"}');
  expect(() => loadConfig(places)).toThrow(/cwd\/mcpx\.json is not used.*accept it with `mcpx trust /);
  acceptFile(places.dataDir, join(places.cwd, "mcpx.json"), '{"mode": "mixed"}', new Date());
  expect(loadConfig(places)).toMatchObject({ config: { mode: "mixed" }, accepted: "as it is" });
  writeFileSync(join(places.cwd, "other.json"), '{"mode": "secure"}');
  expect(loadConfig({ ...places, given: "other.json" }).config).toEqual({ mode: "secure" });
  expect(() => loadConfig({ ...places, given: "none.json" })).toThrow(
    /cannot be read \(ENOENT\); check --config/,
  );
});

test("the command line wins over the configuration, which wins over the defaults", () => {
  const config = parseConfig('{"listen": {"port": 1}, "limits": {"toMax": 3}}', "mcpx.json");
  const loaded = { path: "/etc/mcpx.json", config };
  const { listen, limits } = serverSettings(loaded, { host: "::1", port: undefined, env: {} });
  expect(listen).toMatchObject({ host: "::1", port: 1 });
  expect(limits).toMatchObject({ toMax: 3, depthMax: 32 });
  expect(
    serverSettings({ ...loaded, config: {} }, { host: undefined, port: undefined, env: {} }).listen,
  ).toMatchObject({
    host: "127.0.0.1",
    port: 6279,
  });
});

test("[X0-4.2-2] durations become milliseconds, topics keep only the bounds they name", () => {
  const text = `{
    "topics": { "a": { "retention": { "age": "30d" } }, "b": { "history": false } },
    "presenceHeartbeat": "30s"
  }`;
  const loaded = { path: undefined, config: parseConfig(text, "mcpx.json") };
  const { gateway } = serverSettings(loaded, { host: undefined, port: undefined, env: {} });
  expect(gateway).toEqual({
    topics: { a: { retention: { ageMs: 2_592_000_000 } }, b: { history: false } },
    presenceHeartbeatMs: 30_000,
  });
  expect(parseConfig('{"presenceHeartbeat": 0}', "mcpx.json")).toEqual({ presenceHeartbeat: 0 });
});

test("TLS files are found beside the configuration", () => {
  const dir = scratch();
  for (const name of ["cert", "key"]) writeFileSync(join(dir, `${name}.pem`), name);
  const config = parseConfig('{"listen": {"tls": {"cert": "cert.pem", "key": "key.pem"}}}', "mcpx.json");
  const given = { host: undefined, port: undefined, env: {} };
  const { listen } = serverSettings({ path: join(dir, "mcpx.json"), config }, given);
  expect(listen.tls).toMatchObject({ cert: "cert", key: "key" });
  expect(() => serverSettings({ path: "/nowhere/mcpx.json", config }, given)).toThrow(
    "listen.tls.cert: /nowhere/cert.pem cannot be read (ENOENT); give the path of a PEM file",
  );
});

test("users sign in themselves to servers elsewhere, with nothing beside it that would be everybody's", () => {
  const of = (server: object) => faults(JSON.stringify({ mcpServers: { notes: server } }));
  const oauth = { per: "user" };
  const url = "https://notes.example/mcp";
  expect(of({ url, oauth })).toEqual([]);
  expect(of({ url, oauth: { per: "server", redirectPort: 1 }, headers: { Authorization: "x" } })).toEqual([]);
  expect(of({ command: "notes", oauth })[0]).toContain("has oauth.per user without a url");
  expect(of({ url, oauth, headers: { Authorization: "Bearer x" } })[0]).toContain(
    "and a header authorization",
  );
  expect(of({ url, oauth: { ...oauth, redirectPort: 1 } })[0]).toContain("remove the port");
  expect(of({ url, oauth: { per: "team" } })).toHaveLength(1);
});

test("[PL-4-1] rights of levels are read, and none that would let others than full call", () => {
  const read = parseConfig('{"levels": {"restricted": {"reject": "allow", "status": "deny"}}}', "mcpx.json");
  const loaded = { path: undefined, config: read };
  const { gateway } = serverSettings(loaded, { host: undefined, port: undefined, env: {} });
  expect(gateway.levels).toEqual({ restricted: { reject: "allow", status: "deny" } });
  const text = `{
  "levels": {
    "restricted": { "mcp": "allow", "withdraw": "addressed" },
    "guest": { "chat": "deny" }
  }
}`;
  expect(faults(text)).toEqual([
    "mcpx.json:3:21 levels.restricted.mcp: unknown key; known here: proposal, chat, withdraw, reject, status, presence_status",
    'mcpx.json:3:37 levels.restricted.withdraw: expected one of "allow", "deny"; found "addressed"',
    'mcpx.json:4:5 levels.guest: expected one of "full", "responder", "restricted"; found "guest"',
  ]);
});

test("[AX-12-2] [AX-12-6] [AX-11.4-4] rates, buffers and costs are checked, and misspelt keys are told the right ones", () => {
  const good = {
    notifications: { ratePerSecond: 1, buffer: 10 },
    subservers: { edge: { notifications: { ratePerSecond: 5 } } },
    mcpServers: { notes: { command: "notes", notifications: { buffer: 5 } } },
    costUnits: { free: 0, metered: 0.5, expensive: 20 },
  };
  expect(faults(JSON.stringify(good))).toEqual([]);
  const bad = [
    { notifications: { ratePerSecond: 0 } },
    { notifications: { buffer: 1.5 } },
    { subservers: { edge: { notifications: { buffer: "many" } } } },
    { costUnits: { expensive: -1 } },
  ];
  for (const one of bad) expect(faults(JSON.stringify(one)), JSON.stringify(one)).toHaveLength(1);
  expect(faults('{"notifications": {"rate": 1}}')[0]).toContain("ratePerSecond");
  expect(faults('{"costUnits": {"expensiv": 1}}')[0]).toContain("did you mean expensive");
});

test("a server is spoken to in an era that there is, and that its transport has", () => {
  const server = (more: object) => JSON.stringify({ mcpServers: { notes: more } });
  const url = "https://notes.example.com/mcp";
  for (const era of ["auto", "legacy", "modern"]) expect(faults(server({ url, era }))).toEqual([]);
  expect(faults(server({ url, era: "2025-11-25" }))[0]).toContain("mcpServers.notes.era");
  expect(faults(server({ url, type: "sse", era: "legacy" }))).toEqual([]);
  expect(faults(server({ url, type: "sse", era: "modern" }))[0]).toContain("that transport is older");
  expect(faults(server({ room: "lab", era: "modern" }))[0]).toContain("has era and a room");
});
