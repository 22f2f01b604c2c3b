// The room as simply as it can be said: who is in, with what level, what was published, what each one must see.
import type { Level } from "@mcpx/protocol";

export interface Published {
  id: string;
  from: string;
  kind: string;
  /** Where it stands in the order, from 1. */
  seq: number;
}

/** What a sender must be answered. */
export type Answer = { ack: number } | { refused: string };

export interface ModelMember {
  id: string;
  level: Level;
  isIn: boolean;
  /** Everything it must have been shown, in order: ids of others' envelopes. */
  shown: string[];
}

const knownKinds = ["mcp", "mcp/proposal", "chat", "mcpx.withdraw.proposal", "mcpx.reject.proposal"];

export class RoomModel {
  readonly members = new Map<string, ModelMember>();
  readonly log: Published[] = [];
  /** By envelope id: what was sent under it. */
  readonly bodies = new Map<string, { from: string; body: string }>();

  add(id: string, level: Level): void {
    this.members.set(id, { id, level, isIn: false, shown: [] });
  }

  member(id: string): ModelMember {
    const member = this.members.get(id);
    if (member === undefined) throw new Error(`nobody is called ${id}`);
    return member;
  }

  /** The verdict on an envelope, by the rules as the wire reference states them. */
  send(from: string, envelope: Sendable): Answer {
    const refused = this.#judge(this.member(from), envelope);
    if (refused !== undefined) return { refused };
    const before = this.bodies.get(envelope.id);
    const body = JSON.stringify([
      envelope.kind,
      envelope.to ?? [],
      envelope.correlation_id ?? null,
      envelope.payload,
    ]);
    if (before !== undefined) {
      if (before.from !== from || before.body !== body) return { refused: "id_conflict" };
      return { ack: this.log.find(({ id }) => id === envelope.id)?.seq ?? 0 };
    }
    this.bodies.set(envelope.id, { from, body });
    const seq = this.log.length + 1;
    this.log.push({ id: envelope.id, from, kind: envelope.kind, seq });
    for (const other of this.members.values())
      if (other.isIn && other.id !== from) other.shown.push(envelope.id);
    return { ack: seq };
  }

  #judge(sender: ModelMember, envelope: Sendable): string | undefined {
    // Whether it can be read comes before whose it is.
    if (!knownKinds.includes(envelope.kind)) return "unknown_kind";
    if (envelope.from !== undefined && envelope.from !== sender.id) return "wrong_from";
    switch (envelope.kind) {
      case "mcp":
        return this.#judgeMcp(sender, envelope);
      case "mcp/proposal":
        return typeof envelope.payload.method === "string" ? undefined : "bad_proposal";
      case "chat":
        return typeof envelope.payload.text === "string" ? undefined : "bad_chat";
      case "mcpx.withdraw.proposal":
        return this.#judgeWithdraw(sender, envelope);
      case "mcpx.reject.proposal":
        return this.#judgeReject(sender, envelope);
      default:
        return undefined;
    }
  }

  #judgeMcp(sender: ModelMember, { to = [], correlation_id, payload }: Sendable): string | undefined {
    const isResponse = Object.hasOwn(payload, "result");
    const isAllowed = sender.level === "full" || (sender.level === "responder" && isResponse);
    if (!isAllowed) return "privilege_violation";
    if (!isResponse) return to.length === 1 ? undefined : "request_needs_one_target";
    if (correlation_id === undefined) return "response_needs_correlation";
    const asked = this.#sent(correlation_id);
    if (asked === undefined) return sender.level === "full" ? undefined : "not_the_addressee";
    return asked.kind === "mcp" && asked.isRequest && asked.to.includes(sender.id)
      ? undefined
      : "not_the_addressee";
  }

  #judgeWithdraw(sender: ModelMember, { correlation_id }: Sendable): string | undefined {
    if (correlation_id === undefined) return "bad_lifecycle";
    const from = this.bodies.get(correlation_id)?.from;
    return from === undefined || from === sender.id ? undefined : "not_the_proposer";
  }

  #judgeReject(sender: ModelMember, { correlation_id }: Sendable): string | undefined {
    if (correlation_id === undefined) return "bad_lifecycle";
    if (sender.level === "full") return undefined;
    const proposal = this.#sent(correlation_id);
    return proposal === undefined || proposal.to.includes(sender.id) ? undefined : "kind_not_allowed";
  }

  #sent(id: string): { kind: string; to: string[]; isRequest: boolean } | undefined {
    const known = this.bodies.get(id);
    if (known === undefined) return undefined;
    const [kind, to, , payload] = JSON.parse(known.body);
    return { kind, to, isRequest: Object.hasOwn(payload, "method") };
  }
}

export interface Sendable {
  id: string;
  from?: string;
  to?: string[];
  kind: string;
  correlation_id?: string;
  payload: Record<string, unknown>;
}
