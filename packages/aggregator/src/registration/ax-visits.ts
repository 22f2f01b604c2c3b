// Who may speak at `/ax`, and how long: tokens that end or are revoked end their channels too.
import { type HttpRequest, type Identity, principalOf } from "@mcpx/host";
import { closeCodes, isMcpxError, McpxError } from "@mcpx/protocol";
import type { Channel } from "./channel.ts";
import { registrantOf } from "./prove.ts";
import type { Credential, RegistrarState } from "./registrar.ts";
import { type Registrant, serveRegistrant } from "./serve-registrant.ts";

export interface AxVisits {
  /** By token or client certificate; throws `unauthorised` where there is neither. [AX-10.1-1] */
  identify(request: HttpRequest): Promise<Credential>;
  /** Throws where too many wait to register. To be asked before an upgrade is answered. */
  checkPlace(credential: Credential): void;
  begin(channel: Channel, credential: Credential, sessionId?: string): Registrant;
  /** Ends the channels of tokens that count no more. */
  sweep(now: number): void;
  revoke(jti: string): void;
  closeAll(): void;
}

/** An applicant has this long to register. */
const applyMs = 10_000;
/** Who has come and not registered yet: of all, and of one principal. */
const applicantsMax = 4_096;
const applicantsPerPrincipalMax = 1_000;

export function createAxVisits(state: RegistrarState, identity: Pick<Identity, "tokens">): AxVisits {
  const open = new Map<Channel, Credential>();
  /** By principal: one cannot keep the others out. */
  const applicants = new Map<string, number>();
  let applicantCount = 0;

  async function read(request: HttpRequest): Promise<Credential> {
    const certificateNames = request.certificateNames();
    const hasToken = request.headers.authorization !== undefined;
    if (!hasToken && certificateNames.length > 0) return { principal: undefined, certificateNames };
    const principal = await principalOf(request, identity.tokens);
    return { principal, certificateNames };
  }

  async function identify(request: HttpRequest): Promise<Credential> {
    try {
      return await read(request);
    } catch (error) {
      const actor = request.remoteAddress;
      if (isMcpxError(error)) state.audit?.record({ action: "register", actor, reason: error.code });
      throw error;
    }
  }

  function checkPlace(credential: Credential): void {
    const own = applicants.get(registrantOf(credential)) ?? 0;
    if (applicantCount < applicantsMax && own < applicantsPerPrincipalMax) return;
    throw new McpxError("too_many_connections", "too many connections have not registered yet", {
      retryAfterMs: applyMs,
    });
  }

  function count(key: string, change: 1 | -1): void {
    const own = (applicants.get(key) ?? 0) + change;
    applicantCount += change;
    if (own === 0) applicants.delete(key);
    else applicants.set(key, own);
  }

  function endThose(isOver: (credential: Credential) => boolean, reason: string): void {
    for (const [channel, credential] of open) {
      if (isOver(credential)) channel.close(closeCodes.unauthorised, reason);
    }
  }

  return {
    identify,
    checkPlace,
    begin(channel, credential, sessionId) {
      if (state.tree.isClosed) throw new McpxError("draining");
      open.set(channel, credential);
      const key = registrantOf(credential);
      count(key, 1);
      let isApplicant = true;
      const settled = () => {
        if (isApplicant) count(key, -1);
        isApplicant = false;
      };
      const registrant = serveRegistrant(state, channel, credential, { sessionId, registered: settled });
      const timer = setTimeout(() => {
        if (registrant.subserver === undefined) channel.close(closeCodes.forbidden, "it did not register");
      }, applyMs).unref();
      void channel.ended.then(() => {
        clearTimeout(timer);
        settled();
        open.delete(channel);
      });
      return registrant;
    },
    sweep(now) {
      endThose(({ principal }) => principal !== undefined && principal.expiresAt <= now, "token_expired");
    },
    revoke: (jti) => endThose(({ principal }) => principal?.jti === jti, "token_revoked"),
    closeAll() {
      for (const channel of open.keys()) channel.close(closeCodes.draining, "draining");
    },
  };
}
