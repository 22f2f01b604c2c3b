// One connection to the first of the named servers that is fit to hold our state.
import { readFileSync } from "node:fs";
import { Socket } from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import type { Client, CustomTypesConfig } from "pg";
import { type PostgresAddress, type PostgresHost, showPostgresHost } from "./address.ts";
import { sqlState } from "./fault.ts";
import { judgeServer, type ServerFacts, serverFactsSql } from "./judge-server.ts";

export interface PostgresConnection {
  readonly client: Client;
  /** Of the server: what the operator should know. */
  readonly warnings: readonly string[];
  /** Warnings of the server since the last time. */
  takeNotices(): string[];
  /** Resolves once the connection is gone, whichever side ended it. */
  readonly ended: Promise<void>;
  /** At once, also of a connection that no longer answers; what is under way rejects. */
  cut(): void;
  /** Takes its leave first. */
  end(): Promise<void>;
}

const bigintOid = 20;
const endMs = 1_000;

/** Rejects with a plain error that says of each server why it cannot be used, without the password. */
export async function connectPostgres(
  address: PostgresAddress,
  timeoutMs: number,
): Promise<PostgresConnection> {
  const faults: string[] = [];
  for (const host of address.hosts) {
    try {
      return await connectTo(host, address, timeoutMs);
    } catch (error) {
      faults.push(`${showPostgresHost(host)}: ${explainPostgres(error, address)}`);
    }
  }
  throw new Error(`PostgreSQL cannot be used: ${faults.join("; ")}`);
}

async function connectTo(
  host: PostgresHost,
  address: PostgresAddress,
  timeoutMs: number,
): Promise<PostgresConnection> {
  const socket = new Socket();
  const client = await createClient(socket, host, address);
  // Told by `ended`, and by each statement that was under way.
  client.on("error", () => {});
  const ended = new Promise<void>((resolve) => void client.once("end", resolve));
  const notices: string[] = [];
  client.on("notice", ({ code, message = "" }) => {
    // Mere information has the code of success.
    if (code !== "00000") notices.push(message);
  });
  const late = setTimeout(
    () => socket.destroy(new Error(`no answer within ${timeoutMs / 1_000} s`)),
    timeoutMs,
  );
  try {
    await client.connect();
    // Warnings have to arrive: one of them is the only sign that a commit did not wait for its standby.
    await client.query(`SET client_min_messages = warning; SET search_path = "${address.schema}"`);
    const verdict = judgeServer((await client.query<ServerFacts>(serverFactsSql)).rows[0] as ServerFacts);
    if (!verdict.isFit) throw new Error(verdict.why);
    return {
      client,
      warnings: verdict.warnings,
      takeNotices: () => notices.splice(0),
      ended,
      cut: () => void socket.destroy(),
      end: async () => {
        await Promise.race([client.end(), pause(endMs, undefined, { ref: false })]);
        socket.destroy();
      },
    };
  } catch (error) {
    socket.destroy();
    throw error;
  } finally {
    clearTimeout(late);
  }
}

async function createClient(socket: Socket, host: PostgresHost, address: PostgresAddress): Promise<Client> {
  // Loaded here: most gateways never need it.
  const { default: pg } = await import("pg");
  const { user, database, password, authorities } = address;
  const ca = authorities === undefined ? {} : { ca: readFileSync(authorities, "utf8") };
  return new pg.Client({
    host: host.host,
    port: host.port,
    user,
    database,
    // A function, so that nothing is looked up in the environment or in a file of passwords.
    password: () => password ?? noPassword(),
    ssl: host.isEncrypted && { ...ca, rejectUnauthorized: true },
    stream: () => socket,
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
    application_name: "mcpx",
    // Nothing that is counted here comes near 2^53.
    types: {
      getTypeParser: ((oid: number, format?: "text") =>
        oid === bigintOid
          ? Number
          : pg.types.getTypeParser(oid, format)) as CustomTypesConfig["getTypeParser"],
    },
  });
}

function noPassword(): never {
  throw new Error("it asks for a password and the address has none: postgres://USER:PASSWORD@HOST/DATABASE");
}

/** What an operator can do something with. */
export function explainPostgres(error: unknown, { user, database, schema }: PostgresAddress): string {
  const message = error instanceof Error ? error.message : String(error);
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  const rights =
    `${user} lacks a right (${message}); the schema ${schema} and its tables have to be its own: ` +
    `CREATE SCHEMA ${schema} AUTHORIZATION ${user}`;
  if (error instanceof Error && "detail" in error && /CONNECT privilege/.test(String(error.detail)))
    return `${user} lacks a right (${message}); give it: GRANT CONNECT ON DATABASE ${database} TO ${user}`;
  const known: Record<string, string> = {
    "28P01": `it does not accept the password of ${user}`,
    "3D000": `there is no database ${database}; create it: CREATE DATABASE ${database} OWNER ${user}`,
    // Without the right to use a schema it is as if it were not there.
    "3F000": rights,
    "42501": rights,
    "53300": "it has no connection left; raise max_connections, or end others",
    ECONNREFUSED: "nothing listens there",
    ENOENT: "there is no socket at this path",
    ENOTFOUND: "the host name is not known",
  };
  const state = sqlState(error);
  return known[state ?? code] ?? (message === "" ? code : message);
}
