// Walks steps in a room of its own and compares room and model at each; throws where they part.
import type { Level } from "@mcpx/protocol";
import { expect } from "vitest";
import { type Seen, TestClient } from "../support/test-client.ts";
import type { TestServer } from "../support/test-server.ts";
import type { ModelMember, RoomModel, Sendable } from "./model.ts";

export type Step =
  | { do: "join"; who: string }
  | { do: "leave"; who: string }
  | { do: "level"; who: string; level: "full" | "restricted" }
  | { do: "send"; who: string; envelope: Sendable };

export class Walk {
  readonly #server: TestServer;
  readonly #admin: string;
  readonly #topic: string;
  readonly #model: RoomModel;
  readonly #levels: Readonly<Record<string, Level>>;
  readonly #clients = new Map<string, TestClient>();
  /** What each participant was really shown: ids of others' envelopes. */
  readonly #shown = new Map<string, string[]>();

  constructor(
    server: TestServer,
    admin: string,
    topic: string,
    model: RoomModel,
    levels: Readonly<Record<string, Level>>,
  ) {
    this.#server = server;
    this.#admin = admin;
    this.#topic = topic;
    this.#model = model;
    this.#levels = levels;
  }

  async take(step: Step): Promise<void> {
    const member = this.#model.member(step.who);
    if (step.do === "join") return member.isIn ? undefined : this.#join(member);
    if (!member.isIn) return;
    if (step.do === "leave") await this.#leave(member);
    else if (step.do === "level") await this.#setLevel(member, step.level);
    else await this.#send(member, step.envelope);
  }

  async finish(): Promise<void> {
    for (const [name, client] of this.#clients) {
      await this.#drain(name, client);
      await client.leave();
    }
    for (const { id, shown } of this.#model.members.values()) {
      expect([id, this.#shown.get(id) ?? []]).toEqual([id, shown]);
    }
  }

  async #join(member: ModelMember): Promise<void> {
    const token = await this.#server.token({
      sub: member.id,
      topics: [this.#topic],
      level: this.#levels[member.id],
    });
    const client = await TestClient.connect(this.#server.url, token, { topic: this.#topic });
    const { payload } = await client.next();
    expect(payload.participant).toEqual({ id: member.id, privilege: member.level });
    const others = [...this.#model.members.values()]
      .filter(({ isIn }) => isIn)
      .map(({ id, level }) => [id, level]);
    expect(payload.participants.map((one: Seen) => [one.id, one.privilege]).sort()).toEqual(others.sort());
    expect(payload.history.seq).toBe(this.#model.log.length);
    this.#clients.set(member.id, client);
    member.isIn = true;
  }

  async #leave(member: ModelMember): Promise<void> {
    const client = this.#clients.get(member.id) as TestClient;
    await this.#drain(member.id, client);
    await client.leave();
    this.#clients.delete(member.id);
    member.isIn = false;
    // When the others have been told, the room knows.
    for (const [name, other] of this.#clients)
      await this.#find(name, other, ({ payload }) => payload.event === "leave");
  }

  async #setLevel(member: ModelMember, level: "full" | "restricted"): Promise<void> {
    const verb = level === "full" ? "promote" : "demote";
    const path = `/admin/participants/${member.id}/${verb}?topic=${this.#topic}`;
    expect((await this.#server.call("POST", path, this.#admin)).status).toBe(200);
    member.level = level;
  }

  async #send(member: ModelMember, envelope: Sendable): Promise<void> {
    const client = this.#clients.get(member.id) as TestClient;
    client.send({ ...envelope });
    const expected = this.#model.send(member.id, envelope);
    const isAnswer = (message: Seen) =>
      message.from === "system:gateway" && message.correlation_id === envelope.id;
    const { payload } = await this.#find(member.id, client, isAnswer);
    const reason = payload.reason ?? payload.error?.data?.reason;
    expect(payload.event === "ack" ? { ack: payload.seq } : { refused: reason }).toEqual(expected);
  }

  async #find(name: string, client: TestClient, fits: (message: Seen) => boolean): Promise<Seen> {
    return client.find((message) => {
      this.#note(name, message);
      return fits(message);
    });
  }

  async #drain(name: string, client: TestClient): Promise<void> {
    await client.settled();
    for (const message of client.inbox.splice(0)) this.#note(name, message);
  }

  #note(name: string, message: Seen): void {
    if (message.from === "system:gateway") return;
    this.#shown.set(name, [...(this.#shown.get(name) ?? []), message.id]);
  }
}
