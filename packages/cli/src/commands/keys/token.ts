// `mcpx token`: a token signed with the data directory's key, or a proof of authority for the tree.
import { resolve } from "node:path";
import {
  type Identity,
  isDnsName,
  type MintedToken,
  participantKinds,
  proofMsMax,
  type TokenClaims,
} from "@mcpx/host";
import { authScopes, isUuid, levels } from "@mcpx/protocol";
import { checkParticipantId, checkTopicGlob } from "../../config/check-names.ts";
import { homeOf } from "../../files/data-dir.ts";
import { readKeyFile } from "../../files/key-file.ts";
import { localUser, withStore } from "../../files/local-store.ts";
import { type Context, dataOption, defineCommand, type OptionValues } from "../../framework/command.ts";
import { durationRule, formatDuration, parseDuration } from "../../framework/duration.ts";
import { misuse } from "../../framework/failure.ts";

const options = {
  ...dataOption,
  topic: {
    type: "string",
    values: "room",
    multiple: true,
    value: "T",
    about: "room it opens; * is any name, ** any path",
  },
  id: { type: "string", value: "ID", about: "participant id" },
  level: {
    type: "string",
    values: levels,
    value: "LEVEL",
    about: "full, responder or restricted (default: the gateway decides)",
  },
  kind: { type: "string", values: participantKinds, value: "KIND", about: "human, agent or robot" },
  name: { type: "string", value: "NAME", about: "name shown to others" },
  ttl: {
    type: "string",
    value: "TIME",
    about: "how long it is valid: 30s, 15m, 1h, 7d (default: 1h; of a proof: 5m)",
  },
  admin: { type: "boolean", about: "may administer the gateway" },
  tools: {
    type: "string",
    values: "tool",
    multiple: true,
    value: "GLOB",
    about: "tools it may see and call",
  },
  segment: { type: "string", value: "NAME", about: "segment it may register, for servers of the tree" },
  scope: {
    type: "string",
    values: authScopes,
    value: "SCOPE",
    about: "the most that tools registered with it may need: read, write or admin (default: read)",
  },
  authority: {
    type: "string",
    value: "NAME",
    about: "no token, but a proof of this DNS name; --audience too",
  },
  audience: { type: "string", value: "UUID", about: "the aggregator_id of the tree the proof is for" },
  key: { type: "string", values: "file", value: "FILE", about: "bind it to this key" },
} as const;

export const token = defineCommand({
  usage: "--topic T… --id ID [options]",
  words: { min: 0, max: 0 },
  options,
  examples: [
    ["mcpx token --topic demo --id alice --level full", "a person who may do everything in demo"],
    ["mcpx token --topic 'team/**' --id bot --kind agent --ttl 7d", "an agent, restricted, for a week"],
    ["mcpx token --id ops --admin --ttl 15m", "an administrator, for a while"],
    ["mcpx token --segment edge --scope write --ttl 30d", "a server that registers as edge"],
    ["mcpx token --authority edge01.example.com --audience UUID", "a proof of that name, to be used once"],
  ],
  run,
});

const ttlMsMax = 365 * 86_400_000;

/** What is signed, and how it is written down. */
interface Order {
  mint(identity: Identity): Promise<MintedToken>;
  action: "token.issue" | "authority_proof.issue";
  subject: string;
  ttlMs: number;
  detail: object;
}

async function run(context: Context<typeof options>): Promise<number> {
  const { options, output, cwd } = context;
  const order = options.authority === undefined ? tokenOrder(options, cwd) : proofOrder(options);
  const home = homeOf(context, options);
  const minted = await withStore(home, { mayCreate: true }, async ({ identity, audit, isNew }) => {
    if (isNew) output.note(`mcpx: new data directory ${home.dataDir}`);
    const minted = await order.mint(identity);
    const { action, subject, ttlMs } = order;
    const detail = JSON.parse(JSON.stringify({ ...order.detail, jti: minted.jti, ttlMs }));
    await audit.recordNow({ action, actor: `cli:${localUser()}`, subject, detail });
    return minted;
  });
  const { token, jti, expiresAt } = minted;
  if (options.json) output.json({ token, jti, expires_at: new Date(expiresAt).toISOString() });
  else output.line(token);
  if (output.isTerminal && !options.json) {
    output.note(`(${jti}, valid for ${formatDuration(order.ttlMs)})`);
  }
  return 0;
}

function tokenOrder(given: OptionValues<typeof options>, cwd: string): Order {
  if (given.audience !== undefined) {
    throw misuse("--audience needs --authority", "tokens are for the gateway of the data directory");
  }
  const claims = readClaims(given, cwd);
  const ttlMs = readTtl(given.ttl ?? "1h", ttlMsMax);
  const { cnf: _, ...granted } = claims;
  return {
    mint: ({ tokens }) => tokens.mint(claims, { ttlMs }),
    action: "token.issue",
    subject: claims.sub,
    ttlMs,
    detail: granted,
  };
}

/** [AX-4.2-5] */
function proofOrder(given: OptionValues<typeof options>): Order {
  const { authority = "", ttl = "5m" } = given;
  const audience = given.audience?.toLowerCase();
  const name = authority.replace(/^dns:/, "").toLowerCase();
  if (!isDnsName(name)) {
    throw misuse(
      `--authority ${authority} is not a DNS name`,
      "write for example --authority edge01.example.com",
    );
  }
  if (audience === undefined) {
    throw misuse("--audience is missing", "say which tree it is for, by its aggregator_id: --audience UUID");
  }
  if (!isUuid(audience)) throw misuse(`--audience ${audience} is not an aggregator_id`, "use a UUID");
  const other = tokenOnly.find((option) => isGiven(given[option]));
  if (other !== undefined) {
    throw misuse(`--${other} cannot be combined with --authority`, "a proof contains only the name");
  }
  const ttlMs = readTtl(ttl, proofMsMax);
  return {
    mint: (identity) => identity.mintAuthorityProof({ name, audience, ttlMs }),
    action: "authority_proof.issue",
    subject: name,
    ttlMs,
    detail: { audience },
  };
}

const tokenOnly = [
  "topic",
  "id",
  "level",
  "kind",
  "name",
  "admin",
  "tools",
  "segment",
  "scope",
  "key",
] as const;

function isGiven(value: string | boolean | readonly string[] | undefined): boolean {
  return Array.isArray(value) ? value.length > 0 : value !== undefined && value !== false;
}

function readClaims(given: OptionValues<typeof options>, cwd: string): TokenClaims & { sub: string } {
  const { topic, level, kind, name, admin, tools, segment, scope, key } = given;
  // A server of the tree goes by its segment unless it is told otherwise.
  const { id = segment } = given;
  if (segment !== undefined && !/^[a-z0-9_-]{1,63}$/.test(segment)) {
    throw misuse(`invalid value "${segment}" for --segment`, "use 1 to 63 characters of a-z 0-9 _ -");
  }
  if (id === undefined) throw misuse("--id is missing", "say whose token it is: --id alice");
  checkParticipantId(id);
  if (topic.length === 0 && !admin && tools.length === 0 && segment === undefined) {
    throw misuse("--topic is missing", "say which room it opens: --topic demo, or '**' for all");
  }
  topic.forEach(checkTopicGlob);
  if (scope !== undefined && segment === undefined) {
    throw misuse("--scope needs --segment", "give the segment that the server registers: --segment edge");
  }
  return {
    sub: id,
    topics: topic,
    level,
    kind,
    name,
    tools: tools.length === 0 ? undefined : tools,
    segment,
    scope,
    admin: admin ? true : undefined,
    cnf: key === undefined ? undefined : { jwk: readKeyFile(resolve(cwd, key)) },
  };
}

function readTtl(text: string, max: number): number {
  const ttlMs = parseDuration(text);
  if (ttlMs === undefined) throw misuse(`--ttl ${text} is not ${durationRule}`, "write for example --ttl 1h");
  if (ttlMs > max) {
    const what = max === proofMsMax ? "a proof" : "a token";
    throw misuse(`--ttl ${text} is too long`, `${what} is valid for ${formatDuration(max)} at most`);
  }
  return ttlMs;
}
