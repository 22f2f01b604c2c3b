// Proofs of authority: a short-lived signed text saying that the registrant that shows it to one aggregator, once,
// speaks for a DNS name. That it is shown only once is for the aggregator to see. [AX-4.2-3] [AX-4.2-5]
import { isMcpxError, type JsonObject, McpxError } from "@mcpx/protocol";
import type { Clock } from "../clock.ts";
import { isDnsName } from "../dns-name.ts";
import { readTimes } from "./claims.ts";
import { issueJws, type MintedToken, type Signing } from "./issue-jws.ts";
import { fromStore, proveJws, readJti, type Signers } from "./jws.ts";
import type { Revocations } from "./revocations.ts";

/** Another than that of tokens, so that neither passes for the other. */
const proofType = "mcpx-authority+jwt";

/** The longest life of a proof. */
export const proofMsMax = 600_000;

export interface AuthorityProof {
  /** To be taken once, and remembered until `expiresAt` (ms since 1970). */
  jti: string;
  expiresAt: number;
}

export interface AuthorityQuestion {
  /** The DNS name claimed: lower case, without `dns:`. */
  name: string;
  /** The aggregator it is shown to. [AX-10.1-2] */
  audience: string;
  /** Ms since 1970; the clock's time unless given. */
  now?: number | undefined;
  /** Who waits for it, behind itself alone. */
  asker?: string | undefined;
}

export interface AuthorityProofs {
  /** Throws `authority_unproven`, or `identity_unavailable` where nobody can say now. */
  verifyAuthorityProof(jwt: string, question: AuthorityQuestion): Promise<AuthorityProof>;
  /** Signed with the gateway's own key; at most 10 minutes. Throws `bad_field`. */
  mintAuthorityProof(wish: { name: string; audience: string; ttlMs: number }): Promise<MintedToken>;
}

interface ProofsOptions extends Signers, Signing {
  keys: Signers["keys"] & Signing["keys"];
  revocations: Pick<Revocations, "isRevoked">;
  clock: Clock;
}

export function createAuthorityProofs(options: ProofsOptions): AuthorityProofs {
  return {
    async verifyAuthorityProof(jwt, question) {
      try {
        return await verify(options, jwt, question);
      } catch (error) {
        // Text for those who claim a name: why, in the words tokens are refused with.
        const isOurs = isMcpxError(error) && error.code !== "identity_unavailable";
        throw isOurs ? new McpxError("authority_unproven", error.detail, { cause: error }) : error;
      }
    },
    async mintAuthorityProof({ name, audience, ttlMs }) {
      if (!isDnsName(name)) throw new McpxError("bad_field", "name is not a DNS name in lower case");
      if (audience === "") throw new McpxError("bad_field", "audience is empty");
      // From a second on, for the end is rounded down to one.
      if (!(ttlMs >= 1_000 && ttlMs <= proofMsMax))
        throw new McpxError("bad_field", "ttlMs is out of bounds");
      return issueJws(options, {
        typ: proofType,
        claims: { sub: name },
        audience,
        exp: Math.floor((options.clock.now() + ttlMs) / 1_000),
        listed: { sub: name, claims: { authority: name, audience } },
      });
    },
  };
}

async function verify(
  options: ProofsOptions,
  jwt: string,
  { name, audience, now = options.clock.now(), asker }: AuthorityQuestion,
): Promise<AuthorityProof> {
  const { payload, issuer } = await proveJws(jwt, options, () => proofType, asker);
  checkName(payload, name);
  if (issuer?.mayProve(name) === false) throw unproven("its issuer may not speak for this name");
  // One aggregator and no list of them: an aggregator could show the proof to the next one.
  if (typeof payload.aud !== "string" || payload.aud !== audience) {
    throw unproven("it is for another aggregator");
  }
  const expiresAt = readTimes(payload, { now, ttlMsMax: proofMsMax });
  const jti = readJti(payload);
  if (jti === undefined) throw unproven("jti is missing");
  if (await fromStore(() => options.revocations.isRevoked(jti))) throw unproven("it was revoked");
  return { jti, expiresAt };
}

/** Letter for letter: no case folding, no dot at the end, no other script. */
function checkName({ sub }: JsonObject, name: string): void {
  if (!isDnsName(name)) throw unproven("the name is not a DNS name");
  if (typeof sub !== "string" || sub !== name) throw unproven("it is for another name");
}

function unproven(detail: string): McpxError {
  return new McpxError("authority_unproven", detail);
}
