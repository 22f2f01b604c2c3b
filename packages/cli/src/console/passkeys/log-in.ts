// Logging in with a passkey that was registered at this console. What it signs is good for nothing else, at this
// address only, once, and within two minutes.
import {
  type AnchorKey,
  anchorsNow,
  type Gatekeeper,
  knownAnchors,
  originOf,
  type PasskeyKey,
  proofText,
  provePresence,
  rpIdOf,
} from "@mcpx/aggregator";
import type { Audit, Clock, HttpRequest } from "@mcpx/host";
import { isMcpxError, isObject, type JsonObject, McpxError } from "@mcpx/protocol";
import { checkOrigin } from "../sessions.ts";
import { createAttempts } from "./attempts.ts";
import { createChallenges } from "./challenges.ts";

export interface PasskeyLogin {
  /** Whether to offer it at this address. */
  isOffered(request: HttpRequest): Promise<boolean>;
  options(request: HttpRequest): Promise<JsonObject>;
  /** Whose passkey it was. Throws where it lets nobody in. */
  prove(request: HttpRequest): Promise<PasskeyKey>;
}

export interface PasskeyLoginOptions {
  gates: Pick<Gatekeeper, "anchors">;
  audit: Audit;
  clock: Clock;
}

const promptMs = 120_000;
const triedMax = 10_000;

export function createPasskeyLogin({ gates, audit, clock }: PasskeyLoginOptions): PasskeyLogin {
  const challenges = createChallenges(clock, { lifeMs: promptMs, triedMax });
  const attempts = createAttempts(clock);
  const prove = async (request: HttpRequest): Promise<PasskeyKey> => {
    const { ticket, credential } = await readBody(request);
    const challenge = challenges.take(ticket);
    if (challenge === undefined) {
      const suggestion = "Try again";
      throw new McpxError("ticket_invalid", "this login was tried already or took too long", { suggestion });
    }
    const { key, use } = await provePresence(
      proofText({ credential }),
      challenge,
      await keysAt(gates, request),
    );
    await use?.();
    // Who was removed while we looked is not let in.
    const known = (await keysAt(gates, request)).find(({ thumbprint }) => thumbprint === key.thumbprint);
    if (known === undefined) throw new McpxError("bad_proof", "its key belongs to no enrolled approver");
    return known;
  };
  return {
    async isOffered(request) {
      checkOrigin(request);
      return (await keysAt(gates, request)).length > 0;
    },
    async options(request) {
      checkOrigin(request);
      if ((await keysAt(gates, request)).length === 0) {
        const suggestion = "Get a link with `mcpx console`, then register a passkey";
        throw new McpxError("not_found", "no passkey that may log in is registered at this address", {
          suggestion,
        });
      }
      const { ticket, challenge } = challenges.make();
      // Which passkeys there are is nobody's business: the browser knows its own.
      const rpId = rpIdOf(originOf(request));
      return {
        ticket,
        challenge,
        rpId,
        timeout: promptMs,
        userVerification: "required",
        allowCredentials: [],
      };
    },
    async prove(request) {
      checkOrigin(request);
      attempts.count(request.remoteAddress);
      try {
        const key = await prove(request);
        attempts.forgive(request.remoteAddress);
        return key;
      } catch (error) {
        const reason = isMcpxError(error) ? error.code : "internal";
        const detail = { passkey: true };
        audit.record({ action: "console.login", actor: request.remoteAddress, reason, detail });
        throw error;
      }
    },
  };
}

/** Those that let somebody in, and were made for where this request is. */
async function keysAt(gates: Pick<Gatekeeper, "anchors">, request: HttpRequest): Promise<PasskeyKey[]> {
  return keysIn(await anchorsNow(gates), request);
}

function keysIn(anchors: readonly AnchorKey[], request: HttpRequest): PasskeyKey[] {
  return loginKeysIn(anchors).filter(({ passkey }) => passkey.origin === originOf(request));
}

/** As far as it is known without looking: a removed approver is not among them. */
export function knownLoginKeys(gates: Pick<Gatekeeper, "anchors">): PasskeyKey[] {
  return loginKeysIn(knownAnchors(gates));
}

export async function loginKeys(gates: Pick<Gatekeeper, "anchors">): Promise<PasskeyKey[]> {
  return loginKeysIn(await anchorsNow(gates));
}

function loginKeysIn(anchors: readonly AnchorKey[]): PasskeyKey[] {
  return anchors.filter((key): key is PasskeyKey => key.kind === "passkey" && key.mayLogIn);
}

async function readBody(request: HttpRequest): Promise<JsonObject> {
  const body = await request.json();
  return isObject(body) ? body : {};
}
