// What `mcpx.json` may hold. `docs/CONFIG.md` shows the same keys; a test keeps them equal.

import {
  type AccessPolicy,
  assignableRights,
  authScopes,
  defaultLimits,
  type Limits,
  readPolicy,
} from "@mcpx/protocol";
import { z } from "zod";
import { bridge } from "./bridge-schema.ts";
import * as is from "./config-values.ts";
import { device } from "./device-schema.ts";
import { misplacedCommands } from "./misplaced-commands.ts";
import { byName, list, section, shaped } from "./sections.ts";
import { mcpServer, notifications } from "./server-schema.ts";
import { auditPlace, scanner } from "./watch-schema.ts";

const tls = section({
  cert: is.text("the path of a PEM file", "cert.pem"),
  key: is.text("the path of a PEM file", "key.pem"),
  minVersion: is.oneOf(["TLSv1.2", "TLSv1.3"]).exactOptional(),
  clientCa: is.text("the path of a PEM file", "ca.pem").exactOptional(),
});

const listen = section({
  host: is.hostName.exactOptional(),
  port: is.port.exactOptional(),
  tls: tls.exactOptional(),
  hosts: list(is.servedHost).exactOptional(),
  origins: list(is.origin).exactOptional(),
  insecure: is.flag.exactOptional(),
});

const algorithm = is.text("the name of a signature algorithm", "ES256");
const audience = is.text("an audience", "https://mcpx.example.com");

const segmentGlob = shaped("a segment's name or glob", "lab-*", /^[a-z0-9_*-]{1,63}$/);

const authority = shaped(
  "a DNS name in lower case, *. before it for one label more",
  "*.example.com",
  /^(?:\*\.)?[a-z0-9][a-z0-9.-]{0,252}$/,
);

const publicKey = z.custom<Record<string, unknown>>(isJwk, {
  error: ({ input }) => is.expectation('a public key as JWK, {"kty": "OKP", … }', input),
});

const keySet = z.custom<{ keys: Record<string, unknown>[] }>(isKeySet, {
  error: ({ input }) => is.expectation('a key set, {"keys": [ … ]}', input),
});

const issuer = section({
  issuer: is.text("the iss of its tokens", "https://login.example.com"),
  jwksUri: is.keySetUrl.exactOptional(),
  jwks: keySet.exactOptional(),
  audience: z
    .union([audience, list(audience)], {
      error: ({ input }) => is.expectation("an audience or a list of them", input),
    })
    .exactOptional(),
  algorithms: list(algorithm).exactOptional(),
  typ: is.oneOf(["mcpx+jwt", "at+jwt", "JWT"]).exactOptional(),
  topics: list(is.topicGlob).exactOptional(),
  tools: list(is.toolGlob).exactOptional(),
  segments: list(segmentGlob).exactOptional(),
  scope: is.oneOf(authScopes).exactOptional(),
  authorities: list(authority).exactOptional(),
  level: is.level.exactOptional(),
  admin: is.flag.exactOptional(),
}).check(({ value, issues }) => {
  if ((value.jwksUri === undefined) !== (value.jwks === undefined)) return;
  const message = "needs exactly one of jwksUri and jwks; keep one of them";
  issues.push({ code: "custom", message, input: value, path: [] });
});

const toolAccess = z.custom<"off" | "enforce" | AccessPolicy>(isToolAccess, {
  error: ({ input }) => is.expectation('"off", "enforce" or a policy, {"mode": "allowlist", … }', input),
});

const topic = section({
  history: is.flag.exactOptional(),
  retention: section({
    count: is.count.exactOptional(),
    age: is.duration.exactOptional(),
    bytes: is.count.exactOptional(),
  }).exactOptional(),
  tree: is.flag.exactOptional(),
  toolAccess: toolAccess.exactOptional(),
});

const budget = section({
  max_calls_per_minute: is.count.exactOptional(),
  max_mutable_calls_per_session: is.count.exactOptional(),
  max_cost_units_per_session: is.count.exactOptional(),
});

const scope = is.oneOf(["read", "write", "admin"]);

/** What may register under a segment, and as what. */
const subserver = section({
  scope: scope.exactOptional(),
  authority: is.dnsAuthority.exactOptional(),
  development: is.flag.exactOptional(),
  trusted: is.flag.exactOptional(),
  notifications: notifications.exactOptional(),
});

/** A tree above us. */
const parent = section({
  url: is.axUrl,
  segment: is.segment,
  token: is.text("a token", "${env:PARENT_TOKEN}").exactOptional(),
  authority: is.dnsAuthority.exactOptional(),
  backups: list(is.axUrl).exactOptional(),
  heartbeat: is.durationOrZero.exactOptional(),
  tools: list(is.toolGlob).exactOptional(),
  ca: is.text("the path of a PEM file", "ca.pem").exactOptional(),
  cert: is.text("the path of a PEM file", "client.pem").exactOptional(),
  key: is.text("the path of a PEM file", "client-key.pem").exactOptional(),
  insecure: is.flag.exactOptional(),
});

/** Rules of the gates: the first rule that matches a call decides. */
const gateRule = section({
  tools: is.toolGlob,
  action: is.oneOf(["allow", "ask", "deny", "always_ask"]),
  where: byName(z.string(), is.plainValue).exactOptional(),
  approvers: is.count.exactOptional(),
  holdResult: is.flag.exactOptional(),
}).check(({ value, issues }) => {
  if (value.action !== "deny" || value.holdResult !== true) return;
  const message = "a call that is denied has no result to hold; leave one of them out";
  issues.push({ code: "custom", message, input: value, path: ["holdResult"] });
});

/** An approver of the configuration. */
const gateAnchor = section({
  name: is.id.exactOptional(),
  jwk: publicKey.exactOptional(),
  keyFile: is.text("the path of a key file", "alice.jwk").exactOptional(),
  policy: z
    .union([publicKey, keySet], { error: ({ input }) => is.expectation("a JWK or a key set", input) })
    .exactOptional(),
  issuer: is.text("the iss of its tokens", "https://approve.example.com").exactOptional(),
  jwks: keySet.exactOptional(),
}).check(({ value, issues }) => {
  const { name, jwk, keyFile, policy, issuer, jwks } = value;
  const isNamed = name !== undefined && issuer === undefined && jwks === undefined;
  const isPerson = isNamed && [jwk, keyFile, policy].filter((one) => one !== undefined).length === 1;
  const isService = issuer !== undefined && jwks !== undefined && Object.keys(value).length === 2;
  if (isPerson || isService) return;
  const message = "needs name with one of jwk, keyFile and policy, or issuer with jwks";
  issues.push({ code: "custom", message, input: value, path: [] });
});

const gates = section({
  rules: list(gateRule).exactOptional(),
  unannotated: is.oneOf(["ask", "allow"]).exactOptional(),
  anchors: list(gateAnchor).exactOptional(),
  quorum: is.count.exactOptional(),
  timeout: is.duration.exactOptional(),
  hold: is.durationOrZero.exactOptional(),
  url: is.origin.exactOptional(),
  room: is.roomName.exactOptional(),
});

const profile = section({
  tools: list(is.toolGlob),
  names: is.oneOf(["canonical", "safe", "strict"]).exactOptional(),
  search: is.flag.exactOptional(),
});

const limitNames = Object.keys(defaultLimits) as (keyof Limits)[];

/** Rates may be fractions; what is counted or timed may not. */
function limit(name: string) {
  return /(Max|Ms|Window)$/.test(name) ? is.count : is.positive;
}

const limits = section(
  Object.fromEntries(limitNames.map((name) => [name, limit(name).exactOptional()])) as Record<
    keyof Limits,
    z.ZodExactOptional<typeof is.count>
  >,
).check(({ value, issues }) => {
  const { pingTimeoutMs, pingIntervalMs } = { ...defaultLimits, ...value };
  if (pingTimeoutMs > pingIntervalMs) return;
  const message = "pingTimeoutMs must be more than pingIntervalMs, or every connection is cut; raise it";
  issues.push({ code: "custom", message, input: value, path: [] });
});

/** People who log in at the console with an account of their company, and what the claims about them give. */
const login = section({
  issuer: is.serverUrl,
  clientId: is.text("the id of a client", "mcpx"),
  clientSecret: is.text("a secret", "${env:LOGIN_SECRET}").exactOptional(),
  scopes: list(is.text("a scope", "groups")).exactOptional(),
  rights: list(
    section({
      claims: byName(z.string().min(1).max(128), list(is.anyText)),
      admin: is.flag.exactOptional(),
      topics: list(is.topicGlob).exactOptional(),
      tools: list(is.toolGlob).exactOptional(),
      level: is.level.exactOptional(),
    }),
  ),
});

const levelRights = section({
  proposal: is.oneOf(assignableRights.proposal).exactOptional(),
  chat: is.oneOf(assignableRights.chat).exactOptional(),
  withdraw: is.oneOf(assignableRights.withdraw).exactOptional(),
  reject: is.oneOf(assignableRights.reject).exactOptional(),
  status: is.oneOf(assignableRights.status).exactOptional(),
  presence_status: is.oneOf(assignableRights.presence_status).exactOptional(),
});

export const configSchema = section(
  {
    $schema: is.anyText.exactOptional(),
    listen: listen.exactOptional(),
    mode: is.oneOf(["mixed", "secure", "open"]).exactOptional(),
    identities: byName(is.id, section({ level: is.level })).exactOptional(),
    levels: z
      .partialRecord(is.level, levelRights, {
        error: ({ input }) => is.expectation("an object with levels as keys", input),
      })
      .exactOptional(),
    issuers: list(issuer).exactOptional(),
    logins: byName(is.segment, login).exactOptional(),
    authorization: section({
      enabled: is.flag.exactOptional(),
      clientDocuments: is.flag.exactOptional(),
      clientHosts: list(is.hostName).exactOptional(),
    }).exactOptional(),
    topics: byName(is.topicGlob, topic).exactOptional(),
    limits: limits.exactOptional(),
    createTopics: is.oneOf(["on-join", "configured"]).exactOptional(),
    takeover: is.oneOf(["replace", "refuse"]).exactOptional(),
    presenceHeartbeat: is.durationOrZero.exactOptional(),
    store: is.store.exactOptional(),
    storeKey: is.storeKey.exactOptional(),
    announceViolations: is.flag.exactOptional(),
    compat: section({ toolsRequest: is.flag.exactOptional() }).exactOptional(),
    mcpServers: byName(z.string(), mcpServer).exactOptional(),
    profiles: byName(is.segment, profile).exactOptional(),
    segment: is.segment.exactOptional(),
    pins: is.flag.exactOptional(),
    parents: list(parent).exactOptional(),
    subservers: byName(is.segment, subserver).exactOptional(),
    devices: byName(is.segment, device).exactOptional(),
    bridges: byName(is.segment, bridge).exactOptional(),
    audit: section({ push: byName(is.segment, auditPlace).exactOptional() }).exactOptional(),
    scanners: byName(is.segment, scanner).exactOptional(),
    push: section({
      services: list(is.origin).exactOptional(),
      contact: is.text("an address push services can write to", "mailto:ops@example.com").exactOptional(),
    }).exactOptional(),
    budgets: byName(is.segment, budget).exactOptional(),
    costUnits: section({
      free: is.costUnits.exactOptional(),
      metered: is.costUnits.exactOptional(),
      expensive: is.costUnits.exactOptional(),
    }).exactOptional(),
    notifications: notifications.exactOptional(),
    gates: gates.exactOptional(),
    degraded: section({ grace: is.durationOrZero.exactOptional() }).exactOptional(),
    log: section({
      level: is.oneOf(["silent", "fatal", "error", "warn", "info", "debug", "trace"]).exactOptional(),
    }).exactOptional(),
  },
  ["cluster"],
).check(({ value, issues }) => {
  for (const path of misplacedCommands(value)) {
    const message =
      "has ${cmd:…}, which stands for secrets only: in env and headers, and where a password, token or secret is expected";
    issues.push({ code: "custom", message, input: value, path });
  }
  const { scanners = {}, mcpServers = {} } = value;
  for (const [name, { server }] of Object.entries(scanners)) {
    if (server === undefined || mcpServers[server] !== undefined) continue;
    const message = `is ${JSON.stringify(server)}, which is no server in mcpServers; name one of them`;
    issues.push({ code: "custom", message, input: server, path: ["scanners", name, "server"] });
  }
});

/** As it is read: durations are milliseconds. */
export type Config = z.output<typeof configSchema>;

function isToolAccess(input: unknown): boolean {
  if (input === "off" || input === "enforce") return true;
  try {
    readPolicy(input);
    return true;
  } catch {
    return false;
  }
}

function isJwk(input: unknown): boolean {
  return typeof input === "object" && input !== null && "kty" in input;
}

function isKeySet(input: unknown): boolean {
  if (typeof input !== "object" || input === null || !("keys" in input)) return false;
  const { keys } = input;
  return Array.isArray(keys) && keys.every(isJwk);
}
