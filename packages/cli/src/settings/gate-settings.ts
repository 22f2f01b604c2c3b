// From the configuration to the gates: which calls wait for a human, whose signature counts, and for how long.
import { resolve } from "node:path";
import { type Anchor, type AnchorKey, anchorKeys, confusableSkeleton, type Rule } from "@mcpx/aggregator";
import type { Config } from "../config/config.ts";
import { openKeyFile } from "../files/key-file.ts";
import { Failure } from "../framework/failure.ts";

export interface GateSettings {
  rules: readonly Rule[];
  unannotated: "ask" | "allow";
  quorum: number;
  /** Of the configuration; those who were enrolled come to it. */
  anchors: readonly AnchorKey[];
  /** The gatekeeper's own unless given. */
  ttlMs: number | undefined;
  holdMs: number | undefined;
  holdWithProgressMs: number | undefined;
  /** Where people reach this gateway, if not where its listener says. */
  url: string | undefined;
  /** The room in which waiting calls are shown as proposals. */
  room: string | undefined;
}

export const defaultGates: GateSettings = {
  rules: [],
  unannotated: "ask",
  quorum: 1,
  anchors: [],
  ttlMs: undefined,
  holdMs: undefined,
  holdWithProgressMs: undefined,
  url: undefined,
  room: undefined,
};

type AnchorConfig = NonNullable<NonNullable<Config["gates"]>["anchors"]>[number];

/** For a client that gets progress a call is held this long at least, unless no call is held. */
const holdWithProgressMsMin = 25_000;

export function gateSettings({ gates = {} }: Config, { dir }: { dir: string }): GateSettings {
  const { rules = [], unannotated = "ask", quorum = 1, timeout, hold, url, room } = gates;
  return {
    rules,
    unannotated,
    quorum,
    anchors: readAnchors(gates.anchors ?? [], dir),
    ttlMs: timeout,
    holdMs: hold,
    holdWithProgressMs: hold ? Math.max(hold, holdWithProgressMsMin) : hold,
    url,
    room,
  };
}

function readAnchors(configs: readonly AnchorConfig[], dir: string): readonly AnchorKey[] {
  const seen = new Map<string, string>();
  return configs.flatMap((config, index) => {
    const place = `gates.anchors[${index}]`;
    const name = config.name ?? config.issuer ?? "";
    const other = seen.get(confusableSkeleton(name));
    if (other !== undefined) {
      throw new Failure(`${place}: ${name} is or looks like ${other}`, "give each a name of its own");
    }
    seen.set(confusableSkeleton(name), name);
    try {
      return anchorKeys([anchorOf(config, dir)]);
    } catch (error) {
      if (error instanceof Failure) throw error;
      throw new Failure(
        `${place}: ${name} has no public Ed25519 or P-256 key`,
        "never put a private key here",
      );
    }
  });
}

/** Throws where a key file that is named cannot be read. */
export function configAnchors({ gates = {} }: Config, dir: string): Anchor[] {
  return (gates.anchors ?? []).map((config) => anchorOf(config, dir));
}

function anchorOf({ name = "", jwk, keyFile, policy, issuer, jwks }: AnchorConfig, dir: string): Anchor {
  if (issuer !== undefined && jwks !== undefined) return { kind: "service", issuer, jwks };
  if (policy !== undefined) return policyAnchor(name, policy);
  if (keyFile !== undefined) return { kind: "key", name, ...publicPartOf(resolve(dir, keyFile)) };
  return { kind: "key", name, jwk: jwk ?? {} };
}

/** Of a FIDO2 key with what it was made for. */
function publicPartOf(path: string): { jwk: object; application?: string } {
  const file = openKeyFile(path);
  return { jwk: file.jwk, ...(file.kept === "security-key" && { application: file.application }) };
}

function policyAnchor(name: string, policy: NonNullable<AnchorConfig["policy"]>): Anchor {
  const { keys } = policy;
  if (Array.isArray(keys)) return { kind: "policy", name, jwks: { keys } };
  return { kind: "policy", name, jwk: policy };
}
