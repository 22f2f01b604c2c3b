// What a record of the audit says became of it, and how good or bad that is: one table for every place that shows the
// audit. Pure.

export type OutcomeTone = "good" | "bad" | "odd" | "plain";

export interface AuditOutcome {
  readonly label: string;
  readonly tone: OutcomeTone;
}

const outcome = (label: string, tone: OutcomeTone): AuditOutcome => ({ label, tone });
const done = outcome("done", "plain");
const allowed = outcome("allowed", "good");
const refused = outcome("refused", "bad");

/** By action, of records without a reason; a record with a reason was refused. */
export const auditOutcomes: Readonly<Record<string, AuditOutcome>> = {
  "tool.call": allowed,
  "tool.accept": outcome("accepted", "good"),
  "tool.forget": outcome("forgotten", "odd"),
  "tool.quarantine": outcome("quarantined", "bad"),
  "gate.approve": outcome("approved", "good"),
  "gate.reject": outcome("rejected", "bad"),
  "gate.advice": outcome("advised against", "odd"),
  "gate.look": outcome("looked at", "plain"),
  "gate.proof": outcome("checked", "plain"),
  "gate.release": outcome("released", "good"),
  "gate.withhold": outcome("withheld", "bad"),
  "gate.grant": outcome("granted", "odd"),
  "gate.granted": outcome("allowed by a grant", "good"),
  "gate.revoke": outcome("revoked", "plain"),
  "gate.panic": outcome("panic", "bad"),
  "gate.calm": outcome("end of panic", "odd"),
  "device.probe": outcome("probed", "plain"),
  // Ends of a gate, by its status.
  "gate.pending": outcome("waiting", "plain"),
  "gate.approved": outcome("approved", "good"),
  "gate.consumed": outcome("sent", "plain"),
  "gate.done": outcome("done", "good"),
  "gate.failed": outcome("failed", "bad"),
  "gate.rejected": outcome("rejected", "bad"),
  "gate.expired": outcome("expired", "odd"),
  "gate.indeterminate": outcome("unknown", "bad"),
  "gate.held": outcome("held", "odd"),
  "gate.withheld": outcome("withheld", "bad"),
  "gate.refused": refused,
  "scan.mask": outcome("masked", "odd"),
  "scan.hold": outcome("held", "odd"),
  "scan.unjudged": outcome("not judged", "bad"),
  "proposal.made": outcome("proposed", "plain"),
  "proposal.status": outcome("noted", "plain"),
  "proposal.advice": outcome("advised against", "odd"),
  "proposal.fulfilled": outcome("approved", "good"),
  "proposal.called_late": outcome("called late", "bad"),
  "proposal.answered": outcome("answered", "plain"),
  "proposal.rejected": outcome("rejected", "bad"),
  "proposal.withdrawn": outcome("withdrawn", "plain"),
  "proposal.expired": outcome("expired", "odd"),
  "proposal.untracked": outcome("not followed", "odd"),
  "capability.grant": outcome("granted", "odd"),
  "capability.use": allowed,
  "capability.revoke": outcome("revoked", "plain"),
  "backup.make": done,
  "bridge.add": outcome("added", "plain"),
  "bridge.remove": outcome("removed", "plain"),
  "participant.promote": outcome("raised", "odd"),
  "participant.demote": outcome("lowered", "plain"),
  "participant.kick": outcome("removed", "plain"),
  "participant.reset_key": outcome("key reset", "odd"),
  "approver.enroll": outcome("enrolled", "odd"),
  "approver.invite": outcome("invited", "odd"),
  "approver.remove": outcome("removed", "odd"),
  "push.add": outcome("added", "plain"),
  "push.remove": outcome("removed", "plain"),
  "bridge.code": outcome("made", "plain"),
  "bridge.unlink": outcome("unlinked", "plain"),
  "token.issue": outcome("issued", "plain"),
  "token.revoke": outcome("revoked", "plain"),
  "token.rotate": done,
  "authority_proof.issue": outcome("issued", "plain"),
  "consent.grant": outcome("allowed", "odd"),
  "consent.deny": outcome("refused", "plain"),
  "consent.revoke": outcome("revoked", "plain"),
  "console.link": outcome("made", "plain"),
  "console.login": outcome("logged in", "plain"),
  "console.logout": outcome("logged out", "plain"),
  "oauth.sign_in": outcome("signed in", "plain"),
  "oauth.sign_out": outcome("signed out", "plain"),
  "server.add": outcome("added", "odd"),
  "server.edit": outcome("edited", "odd"),
  "server.import": outcome("added", "odd"),
  "server.remove": outcome("removed", "odd"),
  "rules.change": outcome("changed", "odd"),
  "tool.change": outcome("changed", "odd"),
  "secret.show": outcome("shown", "odd"),
  "room.join": allowed,
  register: allowed,
  refused,
  closed: outcome("cut off", "bad"),
  "audit.lost": outcome("records lost", "bad"),
  "audit.prune": outcome("pruned", "plain"),
};

/** Of an action that is not in the table no success is claimed. */
export function auditOutcome({ action, reason }: { action: unknown; reason?: unknown }): AuditOutcome {
  if (reason !== undefined && reason !== null && reason !== "") {
    return { ...refused, label: `refused: ${String(reason)}` };
  }
  const name = String(action);
  return Object.hasOwn(auditOutcomes, name) ? (auditOutcomes[name] ?? done) : outcome("recorded", "plain");
}
