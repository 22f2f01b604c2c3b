// Audit records over syslog: RFC 5424, each with its length before it (RFC 5425 over TLS, RFC 6587 over TCP). Syslog has
// no acknowledgement: records count as arrived when the other side has taken the whole stream and closed it as well.
import { connect as connectPlain, type Socket } from "node:net";
import { hostname } from "node:os";
import { connect as connectSealed } from "node:tls";
import type { ChainedRow } from "../chain.ts";
import { exportLine } from "../export.ts";
import type { AuditPlace } from "./push-audit.ts";

export interface SyslogOptions {
  /** `tls://HOST:PORT` or `tcp://HOST:PORT`. */
  url: string;
  /** PEM of the authority of its certificate; the system's unless given. */
  ca?: string | undefined;
  version: string;
}

const answerMs = 15_000;
/** The facility that is for audits, and two severities. */
const facility = 13;
const [warning, notice] = [4, 5];

export function createSyslogPlace({ url, ca, version }: SyslogOptions): AuditPlace {
  const { protocol, hostname: host, port } = new URL(url);
  const bare = host.replace(/^\[|\]$/g, "");
  const open = () =>
    protocol === "tls:"
      ? connectSealed({ host: bare, port: Number(port || 6514), ca, servername: isName(bare) ? bare : "" })
      : connectPlain({ host: bare, port: Number(port || 601) });
  return {
    async send(rows, signal) {
      const lines = rows.map((row) => Buffer.from(syslogLine(row, version)));
      const stream = lines.flatMap((line) => [Buffer.from(`${line.length} `), line]);
      await deliver(open(), Buffer.concat(stream), signal);
    },
  };
}

/** Rejects unless all was taken before the other side closed. */
function deliver(socket: Socket, bytes: Buffer, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const fail = (error: Error) => {
      reject(error);
      socket.destroy();
    };
    const abort = () => fail(new Error("given up: the gateway ends"));
    let isTaken = false;
    signal.addEventListener("abort", abort, { once: true });
    socket.setTimeout(answerMs, () => fail(new Error(`no answer within ${answerMs / 1_000} s`)));
    socket.on("error", fail);
    socket.on("finish", () => {
      isTaken = true;
    });
    socket.on("close", () => {
      signal.removeEventListener("abort", abort);
      if (isTaken) resolve();
      else fail(new Error("the connection ended before all was sent"));
    });
    socket.resume();
    socket.end(bytes);
  });
}

/** One message, without the length that is put before it. */
export function syslogLine(row: ChainedRow, version: string, host = hostname()): string {
  const priority = facility * 8 + (row.reason === null ? notice : warning);
  const header = [
    `<${priority}>1`,
    new Date(row.at).toISOString(),
    word(host, 255),
    "mcpx",
    String(process.pid),
    word(row.action, 32),
  ];
  // What is registered for everybody; a number of our own as an enterprise there is none.
  const origin = `[origin software="mcpx" swVersion="${version}"]`;
  return `${header.join(" ")} ${origin} \ufeff${exportLine(row)}`;
}

/** Printable ASCII without spaces, as a field of the header has to be. */
function word(text: string, max: number): string {
  return text.replace(/[^\x21-\x7e]/g, "_").slice(0, max) || "-";
}

/** An address is no name a certificate is asked for by. */
function isName(host: string): boolean {
  return !/^[\d.]+$/.test(host) && !host.includes(":");
}
