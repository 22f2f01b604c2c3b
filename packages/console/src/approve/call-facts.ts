// The call that the page is about, as the gateway tells it to anybody who has the address.
import type { ArgumentDiff, Capability, GateFacts, GateTerms } from "@mcpx/protocol";
import { ApiError } from "../store/api.ts";
import { checkSigned } from "../store/check-signed.ts";

export interface CallFacts extends GateFacts {
  terms: GateTerms;
  /** The JSON that will be sent, to the byte. */
  arguments_text: string;
  asked_by: string;
  asked_at: string;
  why: string;
  capability: Capability;
  /** What the tool's definition hides or imitates. */
  warnings: string[];
  /** Where the tool's schema says that arguments are secret. */
  secrets?: string[];
  /** Who says how dangerous the tool is. */
  word?: string;
  /** By the gateway's clock; the browser's may be wrong. */
  expires_in_ms: number;
  last?: ArgumentDiff & { at: string; by: string[] };
  /** Whether any passkey can be used at this address. */
  has_passkeys: boolean;
}

interface Read {
  facts: CallFacts;
  version: string;
}

/** `undefined` where it is as it was at `version`. Throws `ApiError` and `UntrueGate`. */
export async function readCall(base: string, version: string): Promise<Read | undefined> {
  const headers: HeadersInit = version === "" ? {} : { "if-none-match": version };
  const response = await fetch(`${base}/call`, { headers, cache: "no-store" });
  if (response.status === 304) return undefined;
  if (!response.ok) throw new ApiError(response.status, "", `The gateway answered ${response.status}.`);
  const facts = (await response.json()) as CallFacts;
  await checkShown(base, facts);
  return { facts, version: response.headers.get("etag") ?? "" };
}

/** Browsers hash nothing on pages without TLS; there nothing is signed either. */
export async function checkShown(base: string, facts: CallFacts, resultText?: string): Promise<void> {
  if (!isSecureContext) return;
  const { terms, asked_by: asker, arguments_text: argumentsText } = facts;
  const id = base.slice(base.lastIndexOf("/") + 1);
  await checkSigned(terms, { id, tool: terms.tool, asker, argumentsText, resultText });
}

/** The gate waits for a person, or its call has not ended. */
export function isUnderWay({ status }: CallFacts): boolean {
  return ["pending", "approved", "consumed", "held"].includes(status);
}
