// One call as it will be sent, made once for each request: the gate, its approvers and the dispatch all see this one.
// Where a human has signed it, it is compared with what was signed, and again with what is about to leave. [B-SIGN-1]
import { createHmac, hash } from "node:crypto";
import { canonicalJson, type JsonObject, McpxError, type ServerTerms } from "@mcpx/protocol";
import type { Entry } from "../catalogue/catalogue.ts";
import { withFixed } from "../catalogue/overrides.ts";
import { pinnedText } from "../catalogue/pinned-text.ts";
import type { Server } from "../servers/server.ts";
import type { TreeState } from "../servers/tree-state.ts";

export interface PreparedCall {
  readonly tool: Entry;
  /** As the caller gave them, with the arguments that the operator has fixed. */
  readonly params: JsonObject;
}

/** What is signed of a call. Hashing costs, so that only calls at a gate have it. */
export interface CallSeal {
  /** `sha256:` and base64url of the hash of the arguments' canonical text. */
  readonly digest: string;
  readonly server: ServerTerms;
}

export function prepareCall(tool: Entry, params: JsonObject): PreparedCall {
  return { tool, params: tool.fixed === undefined ? params : withFixed(params, tool.fixed) };
}

export function argumentsOf({ params }: Pick<PreparedCall, "params">): unknown {
  return params.arguments ?? {};
}

export function sealOf(state: TreeState, call: PreparedCall): CallSeal {
  const { server, name, item, listed = item } = call.tool;
  return {
    digest: digestOf(argumentsOf(call)),
    server: {
      name: server.name,
      identity: identityOf(state, server),
      tool: name,
      definition: definitionOf(listed),
    },
  };
}

/** Throws `call_changed` with the first difference. */
export function checkSeal(signed: CallSeal, now: CallSeal): void {
  const { server } = signed;
  if (now.server.name !== server.name || now.server.identity !== server.identity) {
    throw changed(`the server ${server.name} was replaced or reconfigured since the call was signed`);
  }
  if (now.server.tool !== server.tool) {
    throw changed(`the name leads to the tool ${now.server.tool} now, but ${server.tool} was signed`);
  }
  if (now.server.definition !== server.definition) {
    throw changed(`the definition of ${server.tool} has changed since the call was signed`);
  }
  if (now.digest !== signed.digest)
    throw changed("the fixed values of its arguments have changed since the call was signed");
}

/** `_meta` holds the route and the asker, for trees. */
const sentKeys = ["name", "arguments", "_meta"];

/** The last look, at what is about to leave: this server, its own name for the tool, and these arguments. */
export function checkSent(state: TreeState, signed: CallSeal, server: Server, sent: JsonObject): void {
  if (identityOf(state, server) !== signed.server.identity)
    throw changed("the call would go to another server than was signed");
  if (sent.name !== signed.server.tool) throw changed("the call would name another tool than was signed");
  if (digestOf(sent.arguments) !== signed.digest)
    throw changed("the call would have other arguments than were signed");
  const more = Object.keys(sent).find((key) => !sentKeys.includes(key));
  if (more !== undefined) throw changed(`the call would also have ${more}, which was not signed`);
}

/** Keyed: what an operator has configured may hold secrets, and the hash is shown to many. */
function identityOf({ secret }: TreeState, { identity, name, segment }: Server): string {
  const { kind, facts } = identity?.() ?? { kind: "server", facts: { name, segment: segment ?? null } };
  return `${kind}:${createHmac("sha256", secret).update(canonicalJson({ kind, facts })).digest("base64url")}`;
}

/** What is too large to be pinned is hashed as it came. */
function definitionOf(listed: JsonObject): string {
  return `sha256:${hash("sha256", pinnedText(listed) ?? JSON.stringify(listed), "base64url")}`;
}

function digestOf(value: unknown): string {
  return `sha256:${hash("sha256", canonicalJson(value), "base64url")}`;
}

function changed(detail: string): McpxError {
  return new McpxError("call_changed", detail);
}
