// The PostgreSQL that holds the state: reached, fit and as durable as it should be, with no more rights than it needs.
import {
  type MissingRights,
  missingRights,
  missingRightsStatement,
  openPostgresSession,
  type PostgresAddress,
  type PostgresSession,
  type RightRow,
  readPostgresAddress,
} from "@mcpx/host";
import { type KnownStore, knownStore } from "../files/open-store.ts";
import { readStatePlace } from "../files/state-place.ts";
import { type Check, type Finding, fault, ok, warning } from "./finding.ts";
import { judgeClock } from "./gateway.ts";

const about = "store";
const mebibyte = 1_048_576;
/** Below this new segments are made while acknowledgements wait. */
const walBytesGood = 512 * mebibyte;

export const store: Check = {
  name: about,
  doing: "asking the store",
  async run({ dataDir, env }) {
    if (readStatePlace(dataDir) === undefined) return [];
    let known: KnownStore | undefined;
    try {
      known = await knownStore({ dataDir, env });
      if (known === undefined) return [];
      const warnings: string[] = [];
      const address = readPostgresAddress(known.url);
      const session = await openPostgresSession(address, {
        onWarning: (text) => warnings.push(text),
      });
      try {
        const found = judgeStore(known.shown, await factsOf(session, address), Date.now());
        return [...warnings.map((text) => warning(about, text)), ...found];
      } finally {
        await session.close();
      }
    } catch (error) {
      const fix = known === undefined ? undefined : "see docs/POSTGRES.md";
      return [fault(about, error instanceof Error ? error.message : String(error), fix)];
    }
  },
};

interface StoreFacts {
  version: string;
  settings: string;
  walBytes: number;
  /** Ms since 1970. */
  now: number;
  isEncrypted: boolean;
  isRemote: boolean;
  /** What its role may do that a gateway never does. */
  excess: string;
  /** What its role may not do, although a gateway has to. */
  missing: MissingRights | undefined;
}

const facts = {
  name: "doctor-store",
  text: `
    SELECT current_setting('server_version'),
      (SELECT string_agg(name || ' ' || current_setting(name), ', ' ORDER BY place) FROM unnest(ARRAY[
        'synchronous_commit', 'synchronous_standby_names', 'fsync', 'full_page_writes'
      ]) WITH ORDINALITY AS s (name, place) WHERE current_setting(name) <> ''),
      pg_size_bytes(current_setting('min_wal_size')),
      (extract(epoch FROM clock_timestamp()) * 1000)::bigint,
      coalesce((SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()), false),
      inet_client_addr() IS NOT NULL AND inet_client_addr() <> inet_server_addr(),
      coalesce((SELECT concat_ws(', ', CASE WHEN rolsuper THEN 'a superuser' END,
        CASE WHEN rolcreaterole THEN 'may create roles' END, CASE WHEN rolcreatedb THEN 'may create databases' END)
        FROM pg_roles WHERE rolname = current_user), '')`,
};

async function factsOf(session: PostgresSession, address: PostgresAddress): Promise<StoreFacts> {
  type Row = [string, string, number, number, boolean, boolean, string];
  const [row] = await session.query<Row>(facts);
  if (row === undefined) throw new Error("the store tells nothing of itself");
  const [version, settings, walBytes, now, isEncrypted, isRemote, excess] = row;
  const rights = await session.query<RightRow>(missingRightsStatement, [address.schema]);
  const missing = missingRights(rights, address);
  return { version, settings, walBytes, now, isEncrypted, isRemote, excess, missing };
}

export function judgeStore(shown: string, told: StoreFacts, now: number): Finding[] {
  const { version, settings, walBytes, isEncrypted, isRemote, excess, missing } = told;
  const tls = isEncrypted ? "over TLS" : isRemote ? "not encrypted" : "on this machine";
  const found = [ok(about, `PostgreSQL ${version} at ${shown}, ${tls}; ${settings}`)];
  if (isRemote && !isEncrypted)
    found.push(warning(about, "the connection to it is not encrypted", "take sslmode=disable out of store"));
  if (walBytes < walBytesGood) {
    const text = `min_wal_size is ${Math.round(walBytes / mebibyte)} MiB: acknowledgements wait now and then for new segments`;
    found.push(warning(about, text, "ALTER SYSTEM SET min_wal_size = '1GB'; SELECT pg_reload_conf()"));
  }
  if (excess !== "")
    found.push(
      warning(
        about,
        `its role is more than it needs: ${excess}`,
        "see docs/POSTGRES.md for a role of its own",
      ),
    );
  if (missing !== undefined)
    found.push(fault(about, `its role lacks a right: ${missing.what}`, missing.grants));
  return [...found, ...judgeClock(told.now, now).map((one) => ({ ...one, about }))];
}
