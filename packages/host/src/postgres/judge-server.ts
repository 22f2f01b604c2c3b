// Whether a server may hold our state: what it says of itself, judged before anything is written to it. Pure.

/** What a server says of itself; `serverFactsSql` asks for it. */
export interface ServerFacts {
  version: number;
  versionText: string;
  encoding: string;
  isReplica: boolean;
  isReadOnly: boolean;
  synchronousCommit: string;
  fsync: string;
  fullPageWrites: string;
  synchronousStandbys: string;
}

export const serverFactsSql = `
  SELECT current_setting('server_version_num')::int AS "version",
    current_setting('server_version') AS "versionText",
    current_setting('server_encoding') AS "encoding",
    pg_is_in_recovery() AS "isReplica",
    current_setting('transaction_read_only') = 'on' AS "isReadOnly",
    current_setting('synchronous_commit') AS "synchronousCommit",
    current_setting('fsync') AS "fsync",
    current_setting('full_page_writes') AS "fullPageWrites",
    current_setting('synchronous_standby_names') AS "synchronousStandbys"`;

export type ServerVerdict =
  /** `why` names the fault and the remedy. */
  { isFit: false; why: string } | { isFit: true; warnings: string[] };

const oldestMajor = 15;

export function judgeServer(facts: ServerFacts): ServerVerdict {
  const why = refusal(facts);
  if (why !== undefined) return { isFit: false, why };
  const { synchronousCommit, synchronousStandbys } = facts;
  const warnings: string[] = [];
  if (synchronousCommit === "local") {
    const lost =
      synchronousStandbys === "" ? "" : `, although synchronous_standby_names is ${synchronousStandbys}`;
    warnings.push(
      `synchronous_commit is local: what was acknowledged waits for no standby${lost}, and a failover can lose it; ` +
        "set it to on",
    );
  }
  if (synchronousCommit === "remote_write" && synchronousStandbys !== "") {
    warnings.push(
      "synchronous_commit is remote_write: a standby that loses power can lose what was acknowledged; set it to on",
    );
  }
  return { isFit: true, warnings };
}

function refusal(facts: ServerFacts): string | undefined {
  const { version, versionText, encoding, isReplica, isReadOnly, synchronousCommit, fsync } = facts;
  if (version < oldestMajor * 10_000) {
    return `it is version ${versionText}, and the store needs ${oldestMajor} or later; upgrade the server`;
  }
  if (isReplica) return "it is a read-only replica; name the primary, or all servers separated by commas";
  if (isReadOnly) return "its transactions are read-only (default_transaction_read_only); set that to off";
  if (encoding !== "UTF8") {
    return `the database is encoded in ${encoding}; create one with ENCODING 'UTF8' TEMPLATE template0`;
  }
  if (synchronousCommit === "off") {
    return "synchronous_commit is off: a crash would lose what was acknowledged; set it to on";
  }
  if (fsync !== "on" || facts.fullPageWrites !== "on") {
    const setting = fsync !== "on" ? "fsync" : "full_page_writes";
    return `${setting} is off: a power cut would destroy what was acknowledged; set it to on`;
  }
  return undefined;
}
