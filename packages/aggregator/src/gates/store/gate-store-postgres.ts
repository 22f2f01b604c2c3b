// Gates on PostgreSQL. Each change is one statement: it names the version that it was made from, so that of several
// gateways one consumes, and a statement whose answer was lost is found out by the version it was to write. [AX-11.3-5]
import { randomUUID } from "node:crypto";
import {
  askPostgres,
  bigintArray,
  byteaArray,
  PostgresFault,
  type PostgresSession,
  storageRefusal,
  textArray,
} from "@mcpx/host";
import { withoutRoot, withRoot } from "@mcpx/protocol";
import { factsText, readFacts } from "./gate-facts.ts";
import type { GateRows, Kept } from "./gate-rows.ts";
import * as sql from "./gate-statements-postgres.ts";
import type { Gate, GateStatus, GateStore, ListedGate } from "./gate-store.ts";
import { createGateVerbs, type RootedGateStoreOptions } from "./gate-verbs.ts";

interface PostgresGateStoreOptions extends RootedGateStoreOptions {
  /** Of a store with the tables of `treeOnPostgres`; closed by the code that opened it. */
  session: PostgresSession;
}

export function createPostgresGateStore({
  session,
  rootSegment,
  ...options
}: PostgresGateStoreOptions): GateStore {
  const { gatewayId = randomUUID() } = options;
  const parts: Parts = { session, root: rootSegment, gatewayId };
  return createGateVerbs({ ...createReading(parts), ...createWriting(parts) }, options);
}

interface Parts {
  session: PostgresSession;
  root: string | undefined;
  gatewayId: string;
}

type HeadRow = [
  id: Buffer,
  status: GateStatus,
  principal: Buffer,
  tool: Buffer,
  digest: Buffer,
  createdAt: number,
  expiresAt: number,
  settledAt: number | null,
  isDelivered: boolean,
  facts: string,
  version: number,
];
type WholeRow = [...HeadRow, argumentsText: string, resultText: string | null];
type LoadRow = [turn: number, ownCount: number, ownChars: number, allCount: number, allChars: number];

type Reading = "find" | "look" | "newestDone" | "list" | "waiting" | "findAll" | "lost";

function createReading({ session, root, gatewayId }: Parts): Pick<GateRows, Reading> {
  return {
    async find(id) {
      const [row] = await askPostgres<WholeRow>(session, sql.find, [bytes(id)]);
      return keptOf(root, row);
    },
    async look({ principal, tool, digest }) {
      // The turn first: what comes after it is seen by the second, or makes the insert fail.
      const [loads] = await askPostgres<LoadRow>(session, sql.load, [bytes(principal)]);
      if (loads === undefined) throw new Error("the numbers of gates are missing from the store");
      const [turn, ownCount, ownChars, allCount, allChars] = loads;
      const same = [bytes(principal), bytes(withoutRoot(root, tool)), bytes(digest)];
      const [row] = await askPostgres<WholeRow>(session, sql.newest, same);
      const own = { count: ownCount, chars: ownChars };
      return { turn, newest: keptOf(root, row), own, all: { count: allCount, chars: allChars } };
    },
    async newestDone({ id, tool }, principal) {
      const values = [
        bytes(id),
        bytes(withoutRoot(root, tool)),
        principal === undefined ? null : bytes(principal),
      ];
      const [row] = await askPostgres<WholeRow>(session, sql.newestDone, values);
      return keptOf(root, row)?.gate;
    },
    async list(status) {
      const rows =
        status === undefined
          ? await askPostgres<HeadRow>(session, sql.list)
          : await askPostgres<HeadRow>(session, sql.listSome, [status]);
      return rows.map((row) => listedOf(root, row));
    },
    async waiting() {
      type Row = [Buffer, Buffer, number, number, number, number | null];
      const rows = await askPostgres<Row>(session, sql.waiting);
      return rows.map(([id, principal, createdAt, expiresAt, chars, heldAt]) => ({
        ...{ id: id.toString(), principal: principal.toString(), createdAt, expiresAt, chars },
        ...(heldAt !== null && { heldAt }),
      }));
    },
    async findAll(ids) {
      const rows = await askPostgres<HeadRow>(session, sql.findAll, [byteaArray(ids.map(bytes))]);
      return rows.map((row) => keptHead(root, row));
    },
    async lost(status, living) {
      const values = [status, textArray([...living, gatewayId])];
      return (await askPostgres<HeadRow>(session, sql.lost, values)).map((row) => keptHead(root, row));
    },
  };
}

function createWriting({ session, root, gatewayId }: Parts): Omit<GateRows, Reading> {
  return {
    async insert(gate, turn, { finishedMax, finishedCharsMax }) {
      const { id, status, principal, tool, digest, createdAt, expiresAt, argumentsText } = gate;
      const [row] = await askPostgres<[isOurs: boolean, forgotten: Buffer[] | null]>(session, sql.insert, [
        ...[turn, finishedMax, finishedCharsMax, bytes(id), status, bytes(principal)],
        ...[bytes(withoutRoot(root, tool)), bytes(digest), createdAt, expiresAt, argumentsText.length],
        ...[factsText(gate), argumentsText, gatewayId],
      ]);
      return row?.[0] === true ? (row[1] ?? []).map(String) : undefined;
    },
    async replace({ gate, from, to }, proofHash) {
      const { id, status, expiresAt, settledAt = null, isDelivered, argumentsText, resultText = null } = gate;
      const chars = argumentsText.length + (resultText?.length ?? 0);
      const values = [
        ...[bytes(id), from, to, gatewayId, status, expiresAt, settledAt, String(isDelivered), chars],
        ...[factsText(gate), resultText, proofHash ?? null],
      ];
      try {
        return (await session.query(sql.replace, values)).length > 0 ? "replaced" : "moved";
      } catch (error) {
        if (error instanceof PostgresFault && error.kind === "duplicate") return "proof_used";
        if (error instanceof PostgresFault && error.kind === "conflict") return "moved";
        throw storageRefusal(error);
      }
    },
    async end(changes) {
      const rows = await askPostgres<[Buffer]>(session, sql.end, [
        gatewayId,
        byteaArray(changes.map(({ gate }) => bytes(gate.id))),
        bigintArray(changes.map(({ from }) => from)),
        bigintArray(changes.map(({ to }) => to)),
        textArray(changes.map(({ gate }) => gate.status)),
        bigintArray(changes.map(({ gate }) => gate.settledAt ?? gate.expiresAt)),
        textArray(changes.map(({ gate }) => factsText(gate))),
      ]);
      return new Set(rows.map(([id]) => id.toString()));
    },
    addProof: async (hash) => (await askPostgres(session, sql.addProof, [hash])).length > 0,
  };
}

function bytes(text: string): Buffer {
  return Buffer.from(text);
}

function listedOf(root: string | undefined, row: HeadRow): ListedGate {
  const [id, status, principal, tool, digest, createdAt, expiresAt, settledAt, isDelivered, facts] = row;
  return {
    ...readFacts(facts),
    id: id.toString(),
    status,
    principal: principal.toString(),
    tool: withRoot(root, tool.toString()),
    digest: digest.toString(),
    createdAt,
    expiresAt,
    ...(settledAt !== null && { settledAt }),
    isDelivered,
  };
}

function keptHead(root: string | undefined, row: HeadRow): Kept<ListedGate> {
  return { gate: listedOf(root, row), version: row[10] };
}

function keptOf(root: string | undefined, row: WholeRow | undefined): Kept | undefined {
  if (row === undefined) return undefined;
  const [head, argumentsText, resultText] = [row.slice(0, 11) as HeadRow, row[11], row[12]];
  const gate: Gate = {
    ...listedOf(root, head),
    argumentsText,
    ...(resultText !== null && { resultText }),
  };
  return { gate, version: head[10] };
}
