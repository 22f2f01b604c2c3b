// What a configuration says of how much the gates hold, as the chain of approvers keeps it; and the configuration without
// those parts that an approver has not signed yet. Pure but for key files that it names. [B-KEY-2]
import { hash } from "node:crypto";
import { type AuthorityChange, type AuthorityState, segmentFor } from "@mcpx/aggregator";
import { canonicalJson, isObject } from "@mcpx/protocol";
import type { Config } from "../config/config.ts";
import { configAnchors } from "./gate-settings.ts";

type ServerConfig = NonNullable<Config["mcpServers"]>[string];

/** `dir`: where paths of the configuration begin. */
export function authorityOf(config: Config, dir: string): AuthorityState {
  const state = new Map<string, unknown>([["rules", policyOf(config)]]);
  if (config.pins === false) state.set("unpinned", true);
  for (const anchor of configAnchors(config, dir)) {
    const name = anchor.kind === "service" ? anchor.issuer : anchor.name;
    state.set(keyOf("anchor", name), plain(anchor));
  }
  for (const [name, server] of Object.entries(config.mcpServers ?? {})) {
    for (const [privilege, value] of privilegesOf(name, server, config)) {
      state.set(keyOf("server", name, ...privilege), value);
    }
  }
  for (const [name, { trusted, authority, development }] of Object.entries(config.subservers ?? {})) {
    if (trusted === true) state.set(keyOf("subserver", name, "trusted"), plain({ authority, development }));
  }
  for (const [name, { line, tools }] of Object.entries(config.devices ?? {})) {
    for (const [tool, { id, capability }] of Object.entries(tools)) {
      if (capability === undefined) continue;
      state.set(keyOf("device", name, "tool", tool, "capability"), plain({ line, id, capability }));
    }
  }
  for (const [name, entry] of Object.entries(config.scanners ?? {})) {
    if (entry.disabled !== true) state.set(keyOf("scanner", name), scannerFacts(entry, config));
  }
  for (const [name, { kind, url, disabled }] of Object.entries(config.audit?.push ?? {})) {
    if (disabled !== true) state.set(keyOf("audit", name), plain({ kind, url }));
  }
  return state;
}

type ScannerConfig = NonNullable<Config["scanners"]>[string];

/** Bound to the address or program that judges. */
function scannerFacts(
  { url, server, tool, tools, deadline, whenDown }: ScannerConfig,
  { mcpServers = {} }: Config,
): unknown {
  const asked = server === undefined ? undefined : mcpServers[server];
  const identity = asked && identityOf(asked);
  return plain({ url, server, identity, tool, tools, deadline, whenDown });
}

function policyOf({ gates = {}, segment, parents = [] }: Config): unknown {
  const { rules = [], unannotated = "ask", quorum = 1 } = gates;
  return plain({ rules, unannotated, quorum, root: parents.length > 0 ? undefined : segment });
}

/** Each is bound to the program or address it was given to. */
function privilegesOf(name: string, server: ServerConfig, config: Config): [string[], unknown][] {
  const identity = identityOf(server);
  const { trusted, unannotated, pin, tools = {} } = server;
  const found: [string[], unknown][] = [];
  if (trusted === true) found.push([["trusted"], { identity }]);
  if (unannotated === "allow") found.push([["unannotated"], { identity }]);
  if (pin === false) found.push([["unpinned"], { identity }]);
  if (isNamedByAllowance(name, server, config)) found.push([["named"], { identity }]);
  for (const [tool, { capability, name: other }] of Object.entries(tools)) {
    if (capability !== undefined) {
      found.push([["tool", tool, "capability"], plain({ identity, capability })]);
    }
    if (other !== undefined) found.push([["tool", tool, "name"], { name: other }]);
  }
  return found;
}

/** A rule that lets calls of exactly this server pass: another program under its name would have them. */
function isNamedByAllowance(name: string, server: ServerConfig, { gates, segment: root }: Config): boolean {
  const allowed = (gates?.rules ?? []).filter(({ action }) => action === "allow");
  const firsts = allowed.map(({ tools }) => {
    const [first = "", second = ""] = tools.split(".");
    return first === root ? second : first;
  });
  // Its tools stand beside the servers: any name may be one of them.
  if (server.root === true) return firsts.length > 0;
  return firsts.includes(server.segment ?? segmentFor(name));
}

/** Of variables and headers only the names: what they hold is secret, and is replaced now and then. */
function identityOf({
  command,
  args = [],
  cwd,
  user,
  env = {},
  url,
  headers = {},
  room,
  as,
}: ServerConfig): string {
  const names = { env: Object.keys(env).sort(), headers: Object.keys(headers).sort() };
  const facts = plain({ command, args, cwd, user, url, room, as, ...names });
  return `sha256:${hash("sha256", canonicalJson(facts), "base64url")}`;
}

/** The configuration with what was signed in place of what waits. */
export function withoutHeld(
  config: Config,
  held: readonly AuthorityChange[],
  signed: AuthorityState,
): Config {
  const next = structuredClone(config);
  for (const { key, value } of held) {
    const [kind = "", name = "", ...rest] = key.split("/").map(decodeURIComponent);
    if (kind === "rules") holdRules(next, signed.get(key));
    if (kind === "unpinned") next.pins = true;
    if (kind === "anchor" && value !== null && next.gates?.anchors !== undefined) {
      next.gates.anchors = next.gates.anchors.filter((one) => (one.name ?? one.issuer) !== name);
    }
    if (kind === "server") holdServer(next.mcpServers?.[name], rest, signed.get(key));
    if (kind === "scanner") holdScanner(next, name, signed.get(key));
    if (kind === "audit") holdAuditPlace(next, name, signed.get(key));
    if (kind === "subserver") delete next.subservers?.[name]?.trusted;
    if (kind === "device") delete next.devices?.[name]?.tools[rest[1] ?? ""]?.capability;
  }
  return next;
}

function holdRules(config: Config, signed: unknown): void {
  if (!isObject(signed)) return;
  const { rules, unannotated, quorum } = signed as NonNullable<Config["gates"]>;
  config.gates = {
    ...config.gates,
    ...(rules && { rules }),
    ...(unannotated && { unannotated }),
    ...(quorum && { quorum }),
  };
  if (typeof signed.root === "string") config.segment = signed.root;
  else delete config.segment;
}

/** As it was signed. What its secrets were is not known where its entry is gone: then it can only hold results back. */
function holdScanner(config: Config, name: string, signed: unknown): void {
  if (!isObject(signed)) return;
  const { identity, ...facts } = signed;
  const { headers, secret } = config.scanners?.[name] ?? {};
  const given = { ...(headers && { headers }), ...(secret !== undefined && { secret }) };
  const server = typeof facts.server === "string" ? config.mcpServers?.[facts.server] : undefined;
  const isOther = (server && identityOf(server)) !== identity;
  const isBlind = isOther || config.scanners?.[name] === undefined;
  // Another program has no say under its name.
  const place = isOther ? { server: "" } : {};
  const kept = { ...given, ...facts, ...place, ...(isBlind && { whenDown: "hold" as const }) };
  config.scanners = { ...config.scanners, [name]: kept as ScannerConfig };
}

/** Where its entry is gone its secrets are, too: what is sent waits there until somebody decides. */
function holdAuditPlace(config: Config, name: string, signed: unknown): void {
  if (!isObject(signed)) return;
  const { disabled: _, ...entry } = config.audit?.push?.[name] ?? {};
  const kept = { ...entry, ...signed } as NonNullable<NonNullable<Config["audit"]>["push"]>[string];
  config.audit = { ...config.audit, push: { ...config.audit?.push, [name]: kept } };
}

function holdServer(
  server: ServerConfig | undefined,
  [privilege, tool = "", what]: string[],
  signed: unknown,
): void {
  if (server === undefined) return;
  if (privilege === "trusted") delete server.trusted;
  if (privilege === "unannotated") delete server.unannotated;
  if (privilege === "unpinned") delete server.pin;
  // Its calls would be let through under a name that was meant for another.
  if (privilege === "named") server.disabled = true;
  if (privilege !== "tool") return;
  const override = server.tools?.[tool];
  if (what === "capability") delete override?.capability;
  if (what !== "name") return;
  if (isObject(signed) && typeof signed.name === "string") {
    server.tools = { ...server.tools, [tool]: { ...override, name: signed.name } };
  } else delete override?.name;
}

function keyOf(...parts: string[]): string {
  return parts.map(encodeURIComponent).join("/");
}

/** As JSON has it: without what is not there. */
function plain(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value));
}
