// GET /approve/{id} (the page), /approve/{id}/call (what it shows), POST /approve/{id}/decision, /passkey/options and
// /passkey/decision, /look/options and /look (a held result), /chain (who signs whom, in hashes); GET /approve/enroll/{ticket} with what belongs to it, and POST /admin/approvers/enrolments.
import type { Audit, HttpRequest, HttpResponse, Identity, Route } from "@mcpx/host";
import { localRoute } from "../../mcp/operator.ts";
import type { TreeState } from "../../servers/tree-state.ts";
import type { KeptChain } from "../chain/keep-chain.ts";
import type { Gatekeeper } from "../gatekeeper.ts";
import type { ApproverStore } from "../store/approver-store.ts";
import { recordFirst } from "../store/gate-records.ts";
import { type ApprovalParts, passkeyOptions, takeAssertion, takeProof } from "./decide-here.ts";
import { enrolOptions, enrolPasskey, inviteApprover } from "./enrol.ts";
import { createEnrolments } from "./enrolments.ts";
import { factsOf, findGate, versionOf } from "./facts.ts";
import { lookAtResult, lookOptions } from "./look.ts";
import { showChain } from "./show-chain.ts";
import { originOf, rpIdOf } from "./where.ts";

export interface ApproveRoutesOptions {
  tree: { readonly state: TreeState };
  gates: Gatekeeper;
  identity: Pick<Identity, "tokens" | "secret">;
  /** Where new approvers go; whether they count is what `gates.anchors` says. */
  approvers: ApproverStore;
  audit: Audit;
  /** The chain of approvers. */
  chain?: KeptChain;
  /** Where humans decide and become approvers: the same for everybody, whatever its address ends in. */
  page: HttpResponse;
}

const bodyBytesMax = 65_536;

export function approveRoutes(options: ApproveRoutesOptions): Route[] {
  const { gates, identity, approvers, audit, chain, page } = options;
  const { state } = options.tree;
  const parts: ApprovalParts = { state, gates };
  const enrolParts = { gates, approvers, audit, enrolments: createEnrolments(state.clock) };
  const posts: [string, (request: HttpRequest) => Promise<HttpResponse>][] = [
    ["/approve/:id/decision", (request) => takeProof(parts, request)],
    ["/approve/:id/passkey/options", (request) => passkeyOptions(parts, request)],
    ["/approve/:id/passkey/decision", (request) => takeAssertion(parts, request)],
    ["/approve/:id/secrets", (request) => noteSecretShown(parts, request)],
    ["/approve/:id/chain", (request) => showChain(gates, chain, request)],
    ["/approve/:id/look/options", (request) => lookOptions(parts, request)],
    ["/approve/:id/look", (request) => lookAtResult(parts, request)],
    ["/approve/enroll/:ticket/options", (request) => enrolOptions(enrolParts, request)],
    ["/approve/enroll/:ticket/passkey", (request) => enrolPasskey(enrolParts, request)],
  ];
  return [
    { method: "GET", path: "/approve/enroll/:ticket", handle: () => page },
    { method: "GET", path: "/approve/:id", handle: () => page },
    { method: "GET", path: "/approve/:id/call", handle: (request) => showGate(parts, request) },
    localRoute({ identity, audit }, "POST", "/admin/approvers/enrolments", (by, request) =>
      inviteApprover(enrolParts, by, request),
    ),
    ...posts.map(([path, handle]): Route => ({ method: "POST", path, handle, bodyBytesMax })),
  ];
}

/** Before what looks like a secret is shown at the page. */
async function noteSecretShown({ state, gates }: ApprovalParts, request: HttpRequest): Promise<HttpResponse> {
  const { id, tool } = await findGate(gates, request.params.id);
  const event = { action: "secret.show", actor: request.remoteAddress, subject: tool, detail: { gate: id } };
  await recordFirst(state.audit, event);
  return { body: {} };
}

/** The id is all it takes to look: nobody guesses it. */
async function showGate({ state, gates }: ApprovalParts, request: HttpRequest): Promise<HttpResponse> {
  const gate = await findGate(gates, request.params.id);
  const rpId = rpIdOf(originOf(request));
  const etag = versionOf(gates, gate, rpId);
  if (request.headers["if-none-match"] === etag) return { status: 304, headers: { etag } };
  return { body: await factsOf(gates, gate, { state, rpId }), headers: { etag } };
}
