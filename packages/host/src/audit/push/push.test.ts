// Records on their way to real listeners: a collector or a webhook over HTTP, a syslog server over TCP and TLS.
import { createServer } from "node:http";
import { type AddressInfo, createServer as createTcpServer, type Server, type Socket } from "node:net";
import { buffer, text } from "node:stream/consumers";
import { createServer as createTlsServer } from "node:tls";
import { beforeEach, expect, onTestFinished, test } from "vitest";
import { makeAuthority, makeCertificate } from "../../certificates/make-certificate.ts";
import { createManualClock } from "../../clock.ts";
import { createLogger } from "../../logging/log.ts";
import { createMetrics } from "../../logging/metrics.ts";
import { openState } from "../../sqlite/state.ts";
import { type Audit, createAudit } from "../audit.ts";
import { readExportRow } from "../export.ts";
import { createSqliteAuditStore } from "../store-sqlite.ts";
import { auditPositionCases } from "./positions-cases.ts";
import { createSqliteAuditPositions } from "./positions-sqlite.ts";
import { createPostPlace, otlpLogs, webhookBody } from "./post-records.ts";
import { type AuditPlace, pushAudit } from "./push-audit.ts";
import { createSyslogPlace, syslogLine } from "./syslog.ts";

let db: ReturnType<typeof openState>;
let audit: Audit;
let logged: string[];

const clock = createManualClock();

beforeEach(() => {
  db = openState(":memory:");
  logged = [];
  audit = createAudit({ store: createSqliteAuditStore(db), clock, log: createLogger({ level: "silent" }) });
  return async () => {
    await audit.close();
    db.close();
  };
});

async function record(...actions: string[]): Promise<void> {
  for (const action of actions) await audit.recordNow({ action, actor: "alice", detail: { n: 1 } });
}

function push(place: AuditPlace) {
  const metrics = createMetrics();
  const log = createLogger({ level: "info", destination: { write: (line) => void logged.push(line) } });
  const positions = createSqliteAuditPositions(db);
  const pushed = pushAudit([{ name: "siem", place }], { audit, positions, log, metrics });
  onTestFinished(() => pushed.close());
  return { ...pushed, metrics };
}

async function listening(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  return (server.address() as AddressInfo).port;
}

interface Received {
  headers: Record<string, unknown>;
  body: string;
}

/** Takes what is posted, after it has refused as often as it is told to. */
async function startHttp(answers: { status: number; body?: string }[] = []) {
  const [received, refused]: [Received[], Received[]] = [[], []];
  const server = createServer(async (message, response) => {
    const one = { headers: message.headers, body: await text(message) };
    const answer = answers.shift() ?? { status: 200, body: "{}" };
    (answer.status === 200 && answer.body === "{}" ? received : refused).push(one);
    response.writeHead(answer.status).end(answer.body);
  });
  const url = `http://127.0.0.1:${await listening(server)}/v1/logs`;
  return { url, received, refused };
}

const seqsOf = (received: readonly Received[]) =>
  received.flatMap(({ body }) =>
    (JSON.parse(body) as { data: { records: { seq: number }[] } }).data.records.map(({ seq }) => seq),
  );

const webhook = (url: string) =>
  createPostPlace({ url, headers: (id) => ({ "webhook-id": id }), body: webhookBody });

auditPositionCases(async () => {
  const shared = openState(":memory:");
  onTestFinished(() => shared.close());
  return {
    positions: createSqliteAuditPositions(shared),
    open: async () => createSqliteAuditPositions(shared),
  };
});

test("what is recorded arrives in order, and after an outage nothing is missing", async () => {
  const { url, received, refused } = await startHttp([{ status: 503 }]);
  await record("a", "b");
  const { metrics } = push(webhook(url));
  await expect.poll(() => refused.length).toBe(1);
  await record("c");
  await expect.poll(() => seqsOf(received)).toEqual([1, 2, 3]);
  expect(await metrics.text()).toContain('mcpx_audit_push_failures_total{place="siem"} 1');
  await expect.poll(() => metrics.text()).toContain('mcpx_audit_push_waiting{place="siem"} 0');
  expect(logged.join()).toContain("audit records cannot be sent; they wait");
});

test("after a restart it goes on where it stopped, also with what was pruned meanwhile", async () => {
  const { url, received } = await startHttp();
  await record("a", "b");
  const first = push(webhook(url));
  await expect.poll(() => seqsOf(received)).toEqual([1, 2]);
  await first.close();
  await record("c", "d", "e");
  await createSqliteAuditStore(db).prune(3, 9_000);
  push(webhook(url));
  await expect.poll(() => seqsOf(received)).toEqual([1, 2, 4, 5, 6]);
  expect(logged.join()).toContain('"missing":1');
});

test("where an older copy of the chain was put back, all of it is sent", async () => {
  const { url, received } = await startHttp();
  await record("a", "b");
  await createSqliteAuditPositions(db).write("siem", { seq: 2, hash: "of another chain" });
  push(webhook(url));
  await expect.poll(() => seqsOf(received)).toEqual([1, 2]);
});

test("a collector that takes a part only is asked again; records are OTLP with the whole record as text", async () => {
  const partial = JSON.stringify({ partialSuccess: { rejectedLogRecords: "1" } });
  const { url, received, refused } = await startHttp([{ status: 200, body: partial }]);
  await record("a");
  audit.record({ action: "room.join", actor: "mallory", reason: "unauthorised" });
  await audit.flush();
  push(
    createPostPlace({ url, headers: () => ({}), body: (rows) => otlpLogs(rows, { "service.name": "mcpx" }) }),
  );
  await expect.poll(() => received.length).toBe(1);
  expect(refused).toHaveLength(1);
  const { resourceLogs } = JSON.parse(received[0]?.body ?? "");
  const [{ scopeLogs, resource }] = resourceLogs;
  expect(resource.attributes).toEqual([{ key: "service.name", value: { stringValue: "mcpx" } }]);
  const { logRecords } = scopeLogs[0];
  expect(logRecords.map(({ severityNumber }: { severityNumber: number }) => severityNumber)).toEqual([9, 13]);
  expect(readExportRow(logRecords[1].body.stringValue)).toMatchObject({ seq: 2, actor: "mallory" });
  expect(logRecords[0].attributes).toContainEqual({ key: "mcpx.audit.seq", value: { intValue: "1" } });
});

/** The messages of a stream whose lengths stand before them. */
function messagesOf(stream: Buffer): string[] {
  const space = stream.indexOf(" ");
  if (space === -1) return [];
  const end = space + 1 + Number(stream.subarray(0, space).toString());
  return [stream.subarray(space + 1, end).toString(), ...messagesOf(stream.subarray(end))];
}

const rfc5424 =
  /^<(\d{1,3})>1 (\S+) ([!-~]{1,255}) mcpx (\d+) ([!-~]{1,32}) (\[origin software="mcpx" swVersion="1\.0"\]) \ufeff(.+)$/;

test("syslog over TCP: a connection that is cut is tried again, and each message is of RFC 5424", async () => {
  const seen: string[] = [];
  let cuts = 1;
  const port = await listening(
    createTcpServer(async (socket) => {
      socket.on("error", () => {});
      cuts -= 1;
      if (cuts >= 0) socket.resetAndDestroy();
      else seen.push(...messagesOf(await buffer(socket)));
    }),
  );
  await record("ä room.join with more than thirty-two characters");
  await audit.recordNow({ action: "gate.approve", reason: "expired" });
  const { metrics } = push(createSyslogPlace({ url: `tcp://127.0.0.1:${port}`, version: "1.0" }));
  await expect.poll(() => seen.length).toBe(2);
  expect(await metrics.text()).toContain('mcpx_audit_push_failures_total{place="siem"} 1');
  const parts = seen.map((one) => rfc5424.exec(one)?.slice(1) ?? []);
  expect(parts.map(([priority]) => priority)).toEqual(["109", "108"]);
  expect(parts[0]?.[4]).toBe("__room.join_with_more_than_thirt");
  expect(readExportRow(parts[1]?.[6] ?? "")).toMatchObject({ seq: 2, action: "gate.approve" });
});

test("syslog over TLS: only a server whose certificate is of the authority is told", async () => {
  const times = { from: new Date(Date.now() - 60_000), until: new Date(Date.now() + 3_600_000) };
  const authority = makeAuthority({ name: "test", ...times });
  const pair = makeCertificate({ use: "server", names: ["localhost"], ...times }, authority);
  const seen: string[] = [];
  const server = createTlsServer(pair, async (socket: Socket) => {
    socket.on("error", () => {});
    seen.push(...messagesOf(await buffer(socket)));
  });
  const url = `tls://localhost:${await listening(server)}`;
  await record("a");
  const stranger = push(createSyslogPlace({ url, version: "1.0" }));
  await expect.poll(() => logged.join()).toContain("cannot be sent");
  await stranger.close();
  expect(seen).toEqual([]);
  push(createSyslogPlace({ url, version: "1.0", ca: authority.cert }));
  await expect.poll(() => seen.length).toBe(1);
});

test("a name of a machine that is no word of a header is made one", () => {
  const row = { seq: 1, at: 0, action: "a", reason: null, actor: null, subject: null, topic: null };
  const line = syslogLine({ ...row, detail: null, count: 1, hash: "0".repeat(64) }, "1.0", "my host");
  expect(rfc5424.exec(line)?.[3]).toBe("my_host");
  expect(rfc5424.exec(syslogLine({ ...row, detail: null, count: 1, hash: "" }, "1.0", ""))?.[3]).toBe("-");
});
