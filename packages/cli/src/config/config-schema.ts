// What `mcpx.json` may hold. `docs/CONFIG.md` shows the same keys; a test keeps them equal.
import { deviceFieldTypes } from "@mcpx/devices";
import {
  type AccessPolicy,
  assignableRights,
  authScopes,
  defaultLimits,
  type Limits,
  latencyClasses,
  readPolicy,
} from "@mcpx/protocol";
import { z } from "zod";
import * as is from "./config-values.ts";
import { unknownKey } from "./unknown-key.ts";

/** An object with these keys and no others. `later`: keys that are known but not built yet. */
function section<Shape extends z.ZodRawShape>(shape: Shape, later: readonly string[] = []) {
  return z.strictObject(shape, {
    error: (issue) => {
      if (issue.code !== "unrecognized_keys") return is.expectation("an object", issue.input);
      // One line for each of the keys, in their order.
      return issue.keys.map((key) => unknownKey(key, Object.keys(shape), later)).join("\n");
    },
  });
}

function list<T extends z.ZodType>(item: T) {
  return z.array(item, { error: ({ input }) => is.expectation("a list in [ ]", input) });
}

function byName<Key extends z.ZodType<string, string>, T extends z.ZodType>(key: Key, item: T) {
  return z.record(key, item, { error: ({ input }) => is.expectation("an object with names as keys", input) });
}

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

/** A text of this form. */
function shaped(expected: string, example: string, form: RegExp) {
  return z.custom<string>((input) => typeof input === "string" && form.test(input), {
    error: ({ input }) => is.expectation(`${expected}, for example ${JSON.stringify(example)}`, input),
  });
}

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

const serverEras = ["auto", "legacy", "modern"] as const;
const serverTypes = ["stdio", "http", "streamable-http", "streamableHttp", "sse"] as const;

/** What is said of a tool's danger and cost instead of what it says itself. */
const capability = section({
  latency_class: is.oneOf(latencyClasses).exactOptional(),
  consistency: is.oneOf(["strong", "eventual", "best_effort"]).exactOptional(),
  mutable: is.flag.exactOptional(),
  reversible: is.flag.exactOptional(),
  idempotent: is.flag.exactOptional(),
  auth_scope: is.oneOf(["read", "write", "admin"]).exactOptional(),
  cost_class: is.oneOf(["free", "metered", "expensive"]).exactOptional(),
  availability: is.oneOf(["always", "scheduled", "best_effort", "degraded"]).exactOptional(),
});

const toolOverride = section({
  enabled: is.flag.exactOptional(),
  name: is.segment.exactOptional(),
  title: is.text("a title", "Read a note").exactOptional(),
  description: is.text("a description", "Reads one note").exactOptional(),
  arguments: byName(z.string(), z.unknown()).exactOptional(),
  capability: capability.exactOptional(),
});

/** How much of what a server says unasked is passed on. */
const notifications = section({
  ratePerSecond: is.count.exactOptional(),
  buffer: is.count.exactOptional(),
});

/** As the known clients write it, and what is ours beside it. */
const mcpServer = section({
  command: is.text("a command", "npx").exactOptional(),
  args: list(z.string({ error: ({ input }) => is.expectation("a string", input) })).exactOptional(),
  env: byName(z.string(), is.anyText).exactOptional(),
  cwd: is.text("a directory", "/srv/notes").exactOptional(),
  user: shaped("a user of this machine", "notes", /^[a-z_][a-z0-9_-]{0,30}$/).exactOptional(),
  url: is.serverUrl.exactOptional(),
  room: is.roomName.exactOptional(),
  as: is.id.exactOptional(),
  headers: byName(z.string(), is.anyText).exactOptional(),
  type: is.oneOf(serverTypes).exactOptional(),
  era: is.oneOf(serverEras).exactOptional(),
  oauth: section({
    clientId: is.text("a client id", "mcpx").exactOptional(),
    clientSecret: is.text("a secret", "${env:SECRET}").exactOptional(),
    issuer: is.text("the issuer's address", "https://login.example.com").exactOptional(),
    scope: is.text("scopes", "read write").exactOptional(),
    redirectPort: is.port.exactOptional(),
    per: is.oneOf(["server", "user"]).exactOptional(),
  }).exactOptional(),
  disabled: is.flag.exactOptional(),
  segment: is.segment.exactOptional(),
  root: is.flag.exactOptional(),
  trusted: is.flag.exactOptional(),
  unannotated: is.oneOf(["ask", "allow"]).exactOptional(),
  timeout: is.duration.exactOptional(),
  listTimeout: is.duration.exactOptional(),
  idleTimeout: is.durationOrZero.exactOptional(),
  allow: list(is.ownToolGlob).exactOptional(),
  deny: list(is.ownToolGlob).exactOptional(),
  tools: byName(z.string(), toolOverride).exactOptional(),
  pin: is.flag.exactOptional(),
  notifications: notifications.exactOptional(),
}).check(({ value, issues }) => {
  const { command, url, room, as, root, segment, args, user, type, era, tools = {} } = value;
  const add = (message: string) => issues.push({ code: "custom", message, input: value, path: [] });
  const ways = [command, url, room].filter((way) => way !== undefined);
  if (ways.length !== 1) add("needs exactly one of command, url and room");
  if (room === undefined && as !== undefined) add('has "as" without "room"; remove "as"');
  if (room !== undefined && era !== undefined) add("has era and a room; remove the era");
  if (type === "sse" && era === "modern")
    add("has type sse and era modern; that transport is older: keep one");
  if (command === undefined && args !== undefined) add("has args without a command; remove them");
  if (command === undefined && user !== undefined) add("has a user without a command; remove it");
  if (user === "root") add("would run as root; name a user with fewer rights");
  if (root === true && segment !== undefined) add("has root and segment; keep one of them");
  const names = Object.values(tools).flatMap(({ name }) => name ?? []);
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice !== undefined) add(`has two tools named ${twice}; give one of them another name`);
  for (const fault of perUserFaults(value)) add(fault);
});

/** What cannot be where users sign in themselves. */
function perUserFaults({
  url,
  oauth,
  headers = {},
}: {
  url?: string;
  oauth?: { per?: "server" | "user"; redirectPort?: number };
  headers?: Record<string, string>;
}): string[] {
  if (oauth?.per !== "user") return [];
  const hasOwn = Object.keys(headers).some((name) => name.toLowerCase() === "authorization");
  return [
    ...(url === undefined ? ["has oauth.per user without a url; users sign in to servers elsewhere"] : []),
    ...(hasOwn ? ["has oauth.per user and a header authorization; keep one of them"] : []),
    ...(oauth.redirectPort === undefined
      ? []
      : ["has oauth.per user and oauth.redirectPort; remove the port: users come back to /oauth/callback"]),
  ];
}

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

/** One argument of a device's tool, one part of its result, or one value of its event. */
const deviceField = section({
  name: is.text("a name", "led"),
  type: is.oneOf(deviceFieldTypes),
  description: is.text("a description", "0 is off, 1 is on").exactOptional(),
  minimum: is.finite.exactOptional(),
  maximum: is.finite.exactOptional(),
  scale: is.finite.exactOptional(),
  offset: is.finite.exactOptional(),
  length: is.count.exactOptional(),
  littleEndian: is.flag.exactOptional(),
  tag: is.byte.exactOptional(),
});

const deviceTool = section({
  id: is.byte,
  description: is.text("a description", "Switches the LED").exactOptional(),
  arguments: list(deviceField).exactOptional(),
  result: list(deviceField).exactOptional(),
  layout: is.oneOf(["struct", "tlv", "raw"]).exactOptional(),
  capability: capability.exactOptional(),
  timeout: is.duration.exactOptional(),
  statuses: byName(z.string(), is.text("words", "the lid is open")).exactOptional(),
});

const deviceEvent = section({
  id: is.byte,
  alarm: is.flag.exactOptional(),
  fields: list(deviceField).exactOptional(),
  layout: is.oneOf(["struct", "tlv", "raw"]).exactOptional(),
});

/** A microcontroller on a line of this machine. */
const device = section({
  line: is.line,
  profile: is.oneOf(["a", "b"]),
  tools: byName(is.segment, deviceTool),
  events: byName(is.segment, deviceEvent).exactOptional(),
  serial: is.text("its serial number in hexadecimal", "6c616d7031").exactOptional(),
  crc: is.crcBits.exactOptional(),
  payloadMax: is.count.exactOptional(),
  framing: is.oneOf(["cobs", "frame"]).exactOptional(),
  status: is.oneOf(["first", "last"]).exactOptional(),
  heartbeat: is.duration.exactOptional(),
  username: is.text("the broker's user", "gateway").exactOptional(),
  password: is.text("a password", "${env:BROKER_PASSWORD}").exactOptional(),
  disabled: is.flag.exactOptional(),
});

/** What each platform needs, and may have. */
export const bridgeKeys = {
  xmpp: { needed: ["service", "username", "password"], more: ["domain", "component", "nick", "unlinked"] },
  slack: { needed: ["token", "appToken"], more: ["url", "unlinked"] },
  discord: { needed: ["token"], more: ["url", "unlinked"] },
  matrix: { needed: ["url", "token", "hsToken", "listen"], more: ["unlinked"] },
  webhook: { needed: ["url", "secret"], more: [] },
  ntfy: { needed: ["url"], more: ["token"] },
} as const satisfies Record<string, { needed: readonly string[]; more: readonly string[] }>;

/** What each kind needs and may have, beside `kind`, `url`, `insecure` and `disabled`. */
const auditKinds = {
  otlp: { needed: [], more: ["headers"], protocols: ["https:", "http:"] },
  syslog: { needed: [], more: ["ca"], protocols: ["tls:", "tcp:"] },
  webhook: { needed: ["secret"], more: ["headers"], protocols: ["https:", "http:"] },
} as const satisfies Record<
  string,
  { needed: readonly string[]; more: readonly string[]; protocols: readonly string[] }
>;

/** Where audit records go, as they are written. */
const auditPlace = section({
  kind: is.oneOf(Object.keys(auditKinds) as (keyof typeof auditKinds)[]),
  url: is.text("an address", "https://collector.example.com/v1/logs"),
  headers: byName(z.string().min(1).max(256), is.anyText).exactOptional(),
  secret: is.text("a secret", "${env:AUDIT_SECRET}").exactOptional(),
  ca: is.text("the path of a PEM file", "ca.pem").exactOptional(),
  insecure: is.flag.exactOptional(),
  disabled: is.flag.exactOptional(),
}).check(({ value, issues }) => {
  const add = (message: string) => issues.push({ code: "custom", message, input: value, path: [] });
  const { needed, more, protocols } = auditKinds[value.kind];
  const known = ["kind", "url", "insecure", "disabled", ...needed, ...more];
  for (const key of needed) if (value[key] === undefined) add(`needs ${key} for the kind ${value.kind}`);
  for (const key of Object.keys(value))
    if (!known.includes(key)) add(`has ${key}, which the kind ${value.kind} does not use; remove it`);
  const url = URL.parse(value.url);
  if (url === null || !(protocols as readonly string[]).includes(url.protocol) || url.host === "") {
    add(
      `has the url ${JSON.stringify(value.url)}; for the kind ${value.kind} it begins with ${protocols.join("// or ")}//`,
    );
  } else if (url.protocol !== protocols[0] && value.insecure !== true && !is.isThisMachine(url.hostname)) {
    add(
      `would send audit records in plain text to ${url.host}; use ${protocols[0]}//, or "insecure": true where the network is yours`,
    );
  }
});

/** What looks at results: a webhook, or a tool of a server. */
const scanner = section({
  url: is.serverUrl.exactOptional(),
  headers: byName(z.string().min(1).max(256), is.anyText).exactOptional(),
  secret: is.text("a secret", "${env:SCANNER_SECRET}").exactOptional(),
  server: is.text("the name of a server in mcpServers", "guard").exactOptional(),
  tool: is.text("the name of a tool there", "scan").exactOptional(),
  tools: list(is.toolGlob).exactOptional(),
  deadline: is.duration.exactOptional(),
  whenDown: is.oneOf(["hold", "pass"]).exactOptional(),
  insecure: is.flag.exactOptional(),
  disabled: is.flag.exactOptional(),
}).check(({ value, issues }) => {
  const add = (message: string) => issues.push({ code: "custom", message, input: value, path: [] });
  if ((value.url === undefined) === (value.server === undefined)) add("needs exactly one of url and server");
  const [other, keys] =
    value.server === undefined
      ? (["server", ["tool"]] as const)
      : (["url", ["headers", "secret", "insecure"]] as const);
  for (const key of keys) if (value[key] !== undefined) add(`has ${key}, which needs ${other}; remove it`);
  const url = value.url === undefined ? null : URL.parse(value.url);
  if (url?.protocol === "http:" && value.insecure !== true && !is.isThisMachine(url.hostname))
    add(
      `would send results in plain text to ${url.host}; use https://, or "insecure": true where the network is yours`,
    );
});

const builtPlatforms = Object.keys(bridgeKeys) as (keyof typeof bridgeKeys)[];

/** Rooms on a chat platform, or on phones. */
const bridge = section({
  platform: is.oneOf(builtPlatforms),
  channels: byName(z.string().min(1).max(256), is.roomName),
  unlinked: is.oneOf(["read", "guest"]).exactOptional(),
  service: is.xmppService.exactOptional(),
  domain: is.hostName.exactOptional(),
  username: is.text("an account's name", "mcpx").exactOptional(),
  password: is.text("a password", "${env:XMPP_PASSWORD}").exactOptional(),
  component: is.flag.exactOptional(),
  nick: is.text("a nickname", "mcpx").exactOptional(),
  url: is.serverUrl.exactOptional(),
  secret: is.text("a secret", "${env:WEBHOOK_SECRET}").exactOptional(),
  token: is.text("a token", "${env:SLACK_TOKEN}").exactOptional(),
  appToken: is.text("an app-level token", "${env:SLACK_APP_TOKEN}").exactOptional(),
  hsToken: is.text("the homeserver's token", "${env:MATRIX_HS_TOKEN}").exactOptional(),
  listen: is.hostPort.exactOptional(),
  disabled: is.flag.exactOptional(),
}).check(({ value, issues }) => {
  const add = (message: string) => issues.push({ code: "custom", message, input: value, path: [] });
  const { needed, more } = bridgeKeys[value.platform];
  const known = ["platform", "channels", "disabled", ...needed, ...more];
  for (const key of needed) {
    if (value[key as keyof typeof value] === undefined)
      add(`needs ${key} for the platform ${value.platform}`);
  }
  for (const key of Object.keys(value)) {
    if (!known.includes(key)) add(`has ${key}, which the platform ${value.platform} does not use; remove it`);
  }
  if (value.component === true && value.domain === undefined)
    add("needs domain, the component's own address, for component");
  if (Object.keys(value.channels).length === 0) add("has no channels; name at least one with its room");
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

/** Keys whose values are secrets, and keys above such values. */
const secretKeys = ["clientSecret", "token", "appToken", "hsToken", "password", "secret"];
const secretGroups = ["env", "headers"];

/** Where `${cmd:…}` stands for something that is none: a program would decide what else is started or reached. */
function misplacedCommands(value: unknown, path: string[] = []): string[][] {
  if (typeof value === "string") {
    const isSecret = secretKeys.includes(path.at(-1) ?? "") || secretGroups.includes(path.at(-2) ?? "");
    return value.includes("${cmd:") && !isSecret ? [path] : [];
  }
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) => misplacedCommands(inner, [...path, key]));
}

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
