// Whoever is logged in registers a passkey: it approves at gates, and lets them in again. Only here does a passkey get
// the right to log in.
import {
  type ApproverStore,
  anchorsNow,
  creationOptions,
  type Gatekeeper,
  isApproverName,
  originOf,
  readRegistration,
} from "@mcpx/aggregator";
import type { Audit, Clock, HttpRequest } from "@mcpx/host";
import { isObject, isReservedId, type JsonObject, McpxError } from "@mcpx/protocol";
import { checkNew } from "../../approvers.ts";
import { Failure } from "../../failure.ts";
import type { Session } from "../sessions.ts";
import { loginKeys } from "./log-in.ts";
import { createSingleUse } from "./single-use.ts";

export interface PasskeyDesk {
  /** Those that let somebody in. */
  list(session: Session): JsonObject;
  /** What the browser is to make. */
  options(session: Session, request: HttpRequest): Promise<JsonObject>;
  register(session: Session, request: HttpRequest): Promise<JsonObject>;
  /** It approves nothing and lets nobody in any more. */
  remove(name: string): Promise<JsonObject>;
}

export interface PasskeyDeskOptions {
  gates: Pick<Gatekeeper, "anchors">;
  approvers: ApproverStore;
  audit: Audit;
  clock: Clock;
  user: string;
}

const promptMs = 300_000;
const openMax = 64;

interface Begun {
  name: string;
  challenge: string;
}

export function createPasskeyDesk({ gates, approvers, audit, clock, user }: PasskeyDeskOptions): PasskeyDesk {
  const begun = createSingleUse<Begun>(clock, { lifeMs: promptMs, countMax: openMax });
  const actor = `console:${user}`;
  return {
    list: ({ key }) => ({
      passkeys: loginKeys(gates).map(({ name, thumbprint, passkey }) => ({
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
      checkFree(gates, name);
      const options = creationOptions(name, originOf(request), { isFound: true });
      begun.keep(id, { name, challenge: options.challenge });
      return options;
    },
    async register({ id }, request) {
      const { credential } = await bodyOf(request);
      const { name, challenge } = begun.take(id) ?? {};
      if (name === undefined) throw new McpxError("bad_request", "ask for the options first");
      const passkey = await readRegistration(credential, challenge, originOf(request));
      checkFree(gates, name);
      await approvers.add({ name, passkey, mayLogIn: true });
      const detail = { credential: passkey.credentialId, origin: passkey.origin, mayLogIn: true };
      audit.recordNow({ action: "approver.enroll", actor, subject: name, detail });
      return { name };
    },
    async remove(name) {
      const isKnown = loginKeys(gates).some((key) => key.name === name);
      if (!isKnown || !(await approvers.remove(name))) {
        throw new McpxError("not_found", "no passkey of this name lets anybody in");
      }
      audit.recordNow({ action: "approver.remove", actor, subject: name });
      return { name };
    },
  };
}

/** Before anybody is asked for a finger. */
function checkFree(gates: Pick<Gatekeeper, "anchors">, name: string): void {
  try {
    checkNew({ name, thumbprint: "" }, anchorsNow(gates));
  } catch (error) {
    if (error instanceof Failure) throw new McpxError("id_conflict", error.message);
    throw error;
  }
}

async function bodyOf(request: HttpRequest): Promise<JsonObject> {
  const body = await request.json();
  return isObject(body) ? body : {};
}
