// The gateway's gates as an operator has them: what waits, all of one, and the decision about it.
import { hash } from "node:crypto";
import {
  type ArgumentDiff,
  digestOf,
  type GateTerms,
  isMcpxError,
  isObject,
  type JsonObject,
  jointStatementOf,
  namesAsker,
  parseExact,
} from "@mcpx/protocol";
import { accessGateway, callGateway } from "../access/gateway-access.ts";
import type { SeenChain } from "../access/seen-chain.ts";
import { localUser } from "../files/local-store.ts";
import type { Context, gatewayOptions } from "../framework/command.ts";
import { Failure } from "../framework/failure.ts";
import { onlyWithIdPrefix } from "../framework/id-prefix.ts";

type GatewayContext = Context<typeof gatewayOptions>;

interface GateApproval {
  by: string;
  thumbprint: string;
  at: string;
}

/** As the gateway tells it. */
interface ListedReport {
  id: string;
  status: string;
  principal: string;
  session: string;
  tool: string;
  why: string;
  route: string[];
  capability: JsonObject;
  approvers: number;
  approvals: GateApproval[];
  createdAt: string;
  expiresAt: string;
  rejectedBy?: string;
  reason?: string;
  /** Present once the result was held. */
  review?: { digest: string; approvals: GateApproval[] };
  terms: GateTerms;
  /** The gates of trees below at which the same call will stop. */
  below?: readonly GateTerms[];
}

export interface GateReport extends ListedReport {
  argumentsText: string;
  /** What the tool's definition hides or imitates; not told in rooms. */
  warnings?: string[];
  /** Where the tool's schema says that arguments are secret. */
  secrets?: string[];
  /** Who says how dangerous the tool is. */
  word?: string;
  /** What the tool has answered, or the error in its place. */
  outcome?: { result?: JsonObject; error?: JsonObject };
  /** The same, to the byte. */
  resultText?: string;
  /** The call of the same tool that was approved before. */
  last?: ArgumentDiff & { approvals: Pick<GateApproval, "by">[]; settledAt: string };
  /** Instead of the arguments, where these were too large for the room it is shown in. */
  leftOut?: string;
  /** Who shows it where, if not the gateway itself. */
  place?: string;
}

export interface GateAccess {
  list(status?: string): Promise<{
    gates: ListedReport[];
    /** Absent where that is not told. */
    approvers: { name: string; thumbprint: string }[] | undefined;
    isPanic: boolean;
  }>;
  /** By its id, or the beginning of it where that is clear. */
  find(id: string): Promise<GateReport>;
  decide(id: string, proof: string): Promise<GateReport>;
  /** The chain of approvers there. Absent where it is not told. */
  chain?(): Promise<SeenChain | undefined>;
  /** Before what looks like a secret is shown. Absent where everybody who looks has it already. */
  noteSecrets?(id: string): Promise<void>;
}

export function adminCall(context: GatewayContext) {
  const access = accessGateway(context, { sub: `cli:${localUser()}`, topics: [], admin: true });
  return async (method: "GET" | "POST" | "DELETE", path: string, body?: JsonObject) =>
    callGateway(await access.enter(), method, `/admin${path}`, body);
}

export function gateAccess(context: GatewayContext): GateAccess {
  const call = adminCall(context);
  const show = async (id: string) => checked(await call("GET", `/gates/${encodeURIComponent(id)}`));
  const list: GateAccess["list"] = async (status) => {
    const { gates, approvers, panic } = await call("GET", `/gates${status ? `?status=${status}` : ""}`);
    return {
      gates: objects(gates) as unknown as ListedReport[],
      approvers: objects(approvers) as unknown as { name: string; thumbprint: string }[],
      isPanic: panic === true,
    };
  };
  return {
    list,
    async find(id) {
      try {
        return await show(id);
      } catch (error) {
        if (!(error instanceof Failure) || error.reason !== "confirmation_unknown") throw error;
      }
      const { gates } = await list();
      const only = onlyWithIdPrefix(id, gates);
      if (only !== undefined) return await show(only.id);
      const fix = "see mcpx pending, and for a proposal in a room write ROOM ID";
      throw new Failure(`there is no gate ${id}`, fix);
    },
    chain: async () => readChain(await call("GET", "/approvers/chain")),
    async noteSecrets(id) {
      await call("POST", "/secrets/shown", { gate: id });
    },
    decide: async (id, proof) =>
      checked(await call("POST", `/gates/${encodeURIComponent(id)}/decision`, { proof })),
  };
}

function readChain({ aggregator_id, entries, head }: JsonObject): SeenChain | undefined {
  if (typeof aggregator_id !== "string") return undefined;
  const hashes = new Map(objects(entries).map(({ n, hash }) => [n, String(hash)]));
  const last = isObject(head) ? { n: Number(head.n), hash: String(head.hash) } : undefined;
  return { aggregatorId: aggregator_id, head: last, hashAt: (n) => hashes.get(n) };
}

/** What is shown must be what is signed, whatever the gateway says. */
export async function checked(answer: JsonObject): Promise<GateReport> {
  const gate = answer as unknown as GateReport;
  const { terms, argumentsText, resultText, id, tool } = gate;
  const isWhole = isObject(terms) && typeof argumentsText === "string";
  const isTrue =
    isWhole &&
    terms.confirmation_id === id &&
    terms.tool === tool &&
    (!namesAsker(terms) || terms.asker === gate.principal) &&
    terms.arguments_digest === (await digestOf(parseExact(argumentsText))) &&
    isOfResult(gate) &&
    isOneCall(gate);
  if (!isTrue)
    throw new Failure("the gateway shows another call than it wants to have signed", "sign nothing");
  // Read exactly, and from nothing but what the digest is of.
  return resultText === undefined
    ? gate
    : { ...gate, outcome: parseExact(resultText) as NonNullable<GateReport["outcome"]> };
}

/** Gates below are those of this call: its route, its arguments, and its asker behind each tree's name. */
function isOneCall({ terms, below }: GateReport): boolean {
  if (below === undefined) return true;
  try {
    jointStatementOf([terms, ...below]);
    return true;
  } catch (error) {
    if (isMcpxError(error)) return false;
    throw error;
  }
}

/** Where a result is to be released, it is the one that is shown. */
function isOfResult({ status, terms, resultText }: GateReport): boolean {
  if (status !== "held") return true;
  if (terms.phase !== "result") return false;
  return (
    resultText === undefined || terms.result_digest === `sha256:${hash("sha256", resultText, "base64url")}`
  );
}

/** For programs: with the arguments exactly as they will be sent. */
export function gateJson({ argumentsText, resultText: _, ...gate }: GateReport): JsonObject {
  return { ...gate, arguments: parseExact(argumentsText) };
}

export function objects(value: unknown): JsonObject[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}
