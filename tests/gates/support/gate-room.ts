// A whole server with a shredder behind gates that are shown in the room ops, agents at its endpoint, and people in the room
// with keys that approve.
import { generateKeyPairSync, type KeyObject } from "node:crypto";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Config } from "@mcpx/cli";
import { joinRoom, type Proposal, type Room, type RoomEnvelope } from "@mcpx/client";
import { signDecision, type TokenClaims, thumbprint } from "@mcpx/host";
import { type Decision, type GateNotice, type GateTerms, readGateNotice, statementOf } from "@mcpx/protocol";
import { expect, onTestFinished } from "vitest";
import { programArgs } from "../../support/programs.ts";
import { startTestServer, type TestServer } from "../../support/test-server.ts";
import { connectSdk, type Kind, type SdkCaller } from "../../tree/support/sdk-callers.ts";

const shredder = programArgs("tests/gates/support/shredder.ts");

export const room = "ops";

export interface Key {
  privateKey: KeyObject;
  jwk: Record<string, unknown>;
}

export interface Member {
  readonly room: Room;
  /** Everything that was said since they joined, as they have heard it. */
  readonly heard: RoomEnvelope[];
}

export interface GateRoom {
  readonly server: TestServer;
  readonly keys: Readonly<Record<"alice" | "bob", Key>>;
  agent(id?: string, kind?: Kind): Promise<SdkCaller>;
  /** Full unless said otherwise. */
  enter(id: string, claims?: Partial<TokenClaims>, more?: { key?: Key }): Promise<Member>;
  /** What has happened, line by line. */
  traces(): string[];
  audited(action: string): Promise<{ actor: string; detail: Record<string, unknown> }[]>;
  /** Decides at the page's address, without the room. */
  atPage(id: string, proof: string): Promise<{ status: number; body: { status?: string } }>;
}

export function newKey(): Key {
  const { privateKey, publicKey } = generateKeyPairSync("ed25519");
  return { privateKey, jwk: { ...publicKey.export({ format: "jwk" }) } };
}

export function sign(terms: GateTerms, decision: Decision, { privateKey, jwk }: Key, reason?: string) {
  return signDecision(statementOf(terms, decision, reason), privateKey, thumbprint(jwk as never));
}

/** As the configuration has it once it is read: durations are milliseconds. */
export function gateConfig(file: string, anchors: Record<string, Key>, gates: Config["gates"] = {}) {
  const papers = { command: process.execPath, args: [...shredder, file], trusted: true };
  return {
    mcpServers: { papers },
    gates: {
      room,
      hold: 0,
      anchors: Object.entries(anchors).map(([name, { jwk }]) => ({ name, jwk: jwk as { kty: string } })),
      ...gates,
    },
  } satisfies Config;
}

export async function startGateRoom(
  gates: Config["gates"] = {},
  more: Omit<Config, "gates"> = {},
): Promise<GateRoom & { config: ReturnType<typeof gateConfig> }> {
  const dir = mkdtempSync(join(tmpdir(), "mcpx-gate-room-"));
  const file = join(dir, "traces");
  const keys = { alice: newKey(), bob: newKey() };
  const own = gateConfig(file, keys, gates);
  const config = { ...more, ...own, mcpServers: { ...more.mcpServers, ...own.mcpServers } };
  const server = await startTestServer({ config });
  onTestFinished(async () => {
    await server.stop();
    rmSync(dir, { recursive: true, force: true });
  });
  return {
    server,
    config,
    keys,
    async agent(id = "agent", kind = "v1") {
      const token = await server.token({ sub: id, topics: [], tools: ["**"] });
      const caller = await connectSdk(kind, { url: `${server.url}/mcp`, token });
      onTestFinished(() => caller.close().catch(() => {}));
      return caller;
    },
    async enter(id, claims = {}, { key } = {}) {
      const token = await server.token({ sub: id, topics: [room], level: "full", ...claims });
      const backoff = { minMs: 5, maxMs: 50 };
      const joined = await joinRoom({
        url: server.url,
        topic: room,
        token,
        backoff,
        ...(key && { key: key.jwk }),
      });
      onTestFinished(() => joined.close());
      const heard: RoomEnvelope[] = [];
      joined.addEventListener("envelope", ({ detail }) => heard.push(detail));
      return { room: joined, heard };
    },
    traces: () => (existsSync(file) ? readFileSync(file, "utf8").trim().split("\n") : []),
    async audited(action) {
      const token = await server.adminToken();
      const { body } = await server.call("GET", `/admin/audit?action=${action}`, token);
      return body.records;
    },
    atPage: (id, proof) => server.call("POST", `/approve/${id}/decision`, undefined, { proof }),
  };
}

export interface SeenGate {
  proposal: Proposal;
  notice: GateNotice;
}

/** The gates that wait, as a member sees them; waits until there are so many. */
export async function gatesSeen({ room }: Member, count = 1): Promise<SeenGate[]> {
  const seen = () =>
    room.proposals.pending().flatMap((proposal) => {
      const notice = readGateNotice(proposal.mcpax);
      return notice === undefined ? [] : [{ proposal, notice }];
    });
  await expect.poll(seen).toHaveLength(count);
  return seen();
}

export async function gateSeen(member: Member): Promise<SeenGate> {
  const [gate] = await gatesSeen(member);
  return gate as SeenGate;
}

/** `mcpax/confirm`, as a request to the tree's participant. */
export function confirm({ room }: Member, confirmation_id: string, proof: string) {
  return room.peer("tree").request("mcpax/confirm", { confirmation_id, proof });
}

/** How a proposal has ended, for this member; waits for it. */
export async function endOf({ room }: Member, { id }: Proposal): Promise<Proposal> {
  await expect.poll(() => room.proposals.get(id)?.status).not.toBe("pending");
  if (room.proposals.get(id)?.status === "fulfilled") {
    await expect.poll(() => room.proposals.get(id)?.result).toBeDefined();
  }
  return room.proposals.get(id) as Proposal;
}
