// The person who is logged in registers a passkey: it approves at gates, and lets them in again. Only here does a
// passkey get the right to log in.
import {
  type ApproverStore,
  anchorKeys,
  anchorOf,
  anchorsNow,
  approverClash,
  creationOptions,
  type Gatekeeper,
  isApproverName,
  type NewApprover,
  originOf,
  readRegistration,
} from "@mcpx/aggregator";
import type { Audit, Clock, HttpRequest } from "@mcpx/host";
import { isObject, isReservedId, type JsonObject, McpxError } from "@mcpx/protocol";
import type { Session } from "../sessions.ts";
import { loginKeys } from "./log-in.ts";
import { createSingleUse } from "./single-use.ts";

export interface PasskeyRegistration {
  /** Passkeys that may log in at the console. */
  list(session: Session): Promise<JsonObject>;
  /** What the browser is to make. */
  options(session: Session, request: HttpRequest): Promise<JsonObject>;
  register(session: Session, request: HttpRequest): Promise<JsonObject>;
}

export interface PasskeyRegistrationOptions {
  gates: Pick<Gatekeeper, "anchors">;
  approvers: ApproverStore;
  audit: Audit;
  clock: Clock;
  user: string;
  /** Whether the session has ended, however that was. */
  isOver(session: Session): boolean;
}

const promptMs = 300_000;
const openMax = 64;

interface Begun {
  name: string;
  challenge: string;
}

export function createPasskeyRegistration(options: PasskeyRegistrationOptions): PasskeyRegistration {
  const { gates, approvers, audit, clock, user, isOver } = options;
  const begun = createSingleUse<Begun>(clock, { lifeMs: promptMs, countMax: openMax });
  const actor = `console:${user}`;
  return {
    list: async ({ key }) => ({
      passkeys: (await loginKeys(gates)).map(({ name, thumbprint, passkey }) => ({
        ...{ name, thumbprint, origin: passkey.origin },
        isThisLogin: thumbprint === key,
      })),
    }),
    async options({ id }, request) {
      const { name } = await bodyOf(request);
      if (!isApproverName(name) || isReservedId(name)) {
        throw new McpxError(
          "bad_request",
          "name must be 1 to 64 letters, digits, dots, dashes or underscores",
        );
      }
      await checkFree(gates, { name });
      const options = creationOptions(name, originOf(request), { isFound: true });
      begun.keep(id, { name, challenge: options.challenge });
      return options;
    },
    async register(session, request) {
      const { credential } = await bodyOf(request);
      const { name, challenge } = begun.take(session.id) ?? {};
      if (name === undefined) throw new McpxError("bad_request", "ask for the options first");
      const passkey = await readRegistration(credential, challenge, originOf(request));
      // Who was logged out while we looked leaves no way in behind.
      if (isOver(session)) throw new McpxError("unauthorised", "this login at the console has ended");
      for (const key of anchorKeys([anchorOf({ name, passkey })])) await checkFree(gates, key);
      await approvers.add({ name, passkey, mayLogIn: true });
      const detail = { credential: passkey.credentialId, origin: passkey.origin, mayLogIn: true };
      await audit.recordNow({ action: "approver.enroll", actor, subject: name, detail });
      return { name, ...(await waitsOf(gates, name)) };
    },
  };
}

/** By name before anybody is asked for a finger, by the outcome afterwards. */
export async function checkFree(gates: Pick<Gatekeeper, "anchors">, fresh: NewApprover): Promise<void> {
  const clash = approverClash(fresh, await anchorsNow(gates));
  if (clash !== undefined) throw new McpxError("id_conflict", clash);
}

/** Where there are approvers, one of them has to sign it before it is valid. [B-KEY-2] */
export async function waitsOf(gates: Pick<Gatekeeper, "anchors">, name: string): Promise<{ waits?: true }> {
  return (await anchorsNow(gates)).some((key) => key.name === name) ? {} : { waits: true };
}

async function bodyOf(request: HttpRequest): Promise<JsonObject> {
  const body = await request.json();
  return isObject(body) ? body : {};
}
