// A PostgreSQL of our own in a directory of its own, on a free port and a Unix socket. PostgreSQL refuses to run as
// root: where the tests do, it is started as another user. It ends with the process that started it, however that ends.
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { chownSync, existsSync, globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import pg from "pg";
import { freePort } from "./free-port.ts";

export interface PostgresServer extends AsyncDisposable {
  readonly port: number;
  /** Of its files and its Unix socket. */
  readonly directory: string;
  /** `postgres://…` over the Unix socket, with tables in a schema of its own for each call unless one is given. */
  url(schema?: string): string;
  /** The same over TCP, where a password is asked for. */
  tcpUrl(options?: { port?: number; schema?: string }): string;
  /** As the superuser. */
  connect(): Promise<pg.Client>;
  /** Runs SQL as the superuser, on a connection of its own. */
  sql(text: string, values?: unknown[]): Promise<Record<string, unknown>[]>;
  /** Changes settings of the running server. */
  set(settings: Record<string, string>): Promise<void>;
  /** `kill -9` of all processes of the engine; `meanwhile` is what happens while none of them can do anything. */
  kill(meanwhile?: () => Promise<void>): Promise<void>;
  start(): Promise<void>;
  /** Where it has not ended by itself. */
  stop(): Promise<void>;
}

export interface PostgresPlace {
  /** Where its directory is made; that of temporary files unless given. */
  parent?: string;
  /** It is a standby of that server. */
  follows?: PostgresServer;
}

export interface Owner {
  uid?: number;
  gid?: number;
}

export const user = "mcpx";
export const password = "not a secret: of tests";

/** Of the newest version that is installed: Debian's place, else where the shell finds it. */
export function binary(name: string): string {
  const versions = globSync(`/usr/lib/postgresql/*/bin/${name}`);
  const newest = versions.sort((a, b) => Number(a.split("/")[4]) - Number(b.split("/")[4])).at(-1);
  return newest ?? name;
}

/** Whom it runs as: ourselves, unless that is root. */
export function ownerOf(): Owner {
  if (process.getuid?.() !== 0) return {};
  const [, uid, gid] = /^nobody:[^:]*:(\d+):(\d+):/m.exec(readFileSync("/etc/passwd", "utf8")) ?? [];
  if (uid === undefined || gid === undefined) throw new Error("there is no user nobody to run PostgreSQL as");
  return { uid: Number(uid), gid: Number(gid) };
}

/** Some end by themselves, once the first of them has. */
export function signalAnyway(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
  }
}

/** A process that has ended and was not waited for is none any more. */
function isAlive(pid: number): boolean {
  try {
    return !/\) [ZX] /.test(readFileSync(`/proc/${pid}/stat`, "utf8"));
  } catch (error) {
    if (["ENOENT", "ESRCH"].includes((error as NodeJS.ErrnoException).code ?? "")) return false;
    throw error;
  }
}

/** `files` by their names in the data directory, readable for the server alone. */
function initialise(directory: string, owner: Owner, files: Record<string, string>): void {
  const passwordFile = join(directory, "password");
  writeFileSync(passwordFile, password);
  if (owner.uid !== undefined && owner.gid !== undefined) {
    for (const path of [directory, passwordFile]) chownSync(path, owner.uid, owner.gid);
  }
  const auth = ["--auth-local=trust", "--auth-host=scram-sha-256", `--pwfile=${passwordFile}`];
  // Not synced: what `initdb` writes need not outlive the machine. What the server writes later is.
  const options = ["--no-sync", "--no-instructions", "--encoding=UTF8", "--locale=C", "-U", user, ...auth];
  execFileSync(binary("initdb"), ["-D", join(directory, "data"), ...options], {
    ...owner,
    cwd: directory,
    stdio: ["ignore", "ignore", "pipe"],
  });
  for (const [name, text] of Object.entries(files)) {
    const path = join(directory, "data", name);
    writeFileSync(path, text, { mode: 0o600 });
    if (owner.uid !== undefined && owner.gid !== undefined) chownSync(path, owner.uid, owner.gid);
  }
}

/** A copy of a running server, which follows it. */
function copyOf({ directory, port }: PostgresServer, into: string, owner: Owner): void {
  if (owner.uid !== undefined && owner.gid !== undefined) chownSync(into, owner.uid, owner.gid);
  const from = ["-h", directory, "-p", String(port), "-U", user];
  execFileSync(
    binary("pg_basebackup"),
    [...from, "-D", join(into, "data"), "-R", "-c", "fast", "--no-sync"],
    {
      ...owner,
      cwd: into,
      stdio: ["ignore", "ignore", "pipe"],
    },
  );
}

/** The shell ends the server when its standard input does: also when we are killed. */
export const keeper = `
  exec 3<&0; "$0" "$@" <&- 3<&- & server=$!
  (cat <&3 >/dev/null; kill -QUIT $server) & watcher=$!
  wait $server; code=$?; kill $watcher; exit $code`;

export async function startPostgres(
  settings: Record<string, string> = {},
  files: Record<string, string> = {},
  { parent = tmpdir(), follows }: PostgresPlace = {},
): Promise<PostgresServer> {
  const directory = mkdtempSync(join(parent, "mcpx-postgres-"));
  const owner = ownerOf();
  const port = await freePort();
  if (follows === undefined) initialise(directory, owner, files);
  else copyOf(follows, directory, owner);
  let child: ChildProcess | undefined;
  let schemas = 0;

  const url = (schema = `store${++schemas}`) =>
    `postgres://${user}@/postgres?host=${directory}&port=${port}&schema=${schema}`;

  async function connect(): Promise<pg.Client> {
    const client = new pg.Client({ user, database: "postgres", host: directory, port, ssl: false });
    client.on("error", () => {});
    await client.connect();
    return client;
  }

  async function sql(text: string, values: unknown[] = []): Promise<Record<string, unknown>[]> {
    const client = await connect();
    try {
      return (await client.query(text, values)).rows;
    } finally {
      await client.end();
    }
  }

  async function set(changed: Record<string, string>): Promise<void> {
    for (const [name, value] of Object.entries(changed)) {
      await sql(`ALTER SYSTEM SET ${name} = ${value === "" ? "''" : value}`);
    }
    await sql("SELECT pg_reload_conf()");
    // The postmaster passes it on when it comes to it: each new connection asks until it has.
    for (const [name, value] of Object.entries(changed)) {
      while ((await sql("SELECT current_setting($1) AS value", [name]))[0]?.value !== value) await pause(5);
    }
  }

  async function start(): Promise<void> {
    const all = { listen_addresses: "127.0.0.1", port, unix_socket_directories: directory, ...settings };
    const options = Object.entries(all).flatMap(([name, value]) => ["-c", `${name}=${value}`]);
    const args = [binary("postgres"), "-D", join(directory, "data"), ...options];
    const started = spawn("sh", ["-c", keeper, ...args], {
      ...owner,
      cwd: directory,
      stdio: ["pipe", "ignore", "pipe"],
    });
    child = started;
    let said = "";
    started.stderr?.setEncoding("utf8").on("data", (text: string) => {
      said = (said + text).slice(-4_000);
    });
    for (let isUp = false; !isUp; ) {
      if (started.exitCode !== null) throw new Error(`PostgreSQL did not start: ${said}`);
      isUp = await sql("SELECT 1").then(
        () => true,
        () => pause(20, false),
      );
    }
  }

  async function stop(): Promise<void> {
    if (child?.exitCode === null && child.signalCode === null) {
      const exited = once(child, "exit");
      child.stdin?.end();
      await exited;
    }
    child = undefined;
  }

  async function kill(meanwhile = async () => {}): Promise<void> {
    if (child === undefined) return;
    const postmaster = Number(readFileSync(join(directory, "data", "postmaster.pid"), "utf8").split("\n")[0]);
    const client = await connect();
    // From now on it starts no other.
    signalAnyway(postmaster, "SIGSTOP");
    const { rows } = await client.query("SELECT pid FROM pg_stat_activity ORDER BY pid = pg_backend_pid()");
    const pids = [...rows.map((row) => Number(row.pid)), postmaster];
    for (const pid of pids) signalAnyway(pid, "SIGSTOP");
    await meanwhile();
    const exited = once(child, "exit");
    for (const pid of pids) signalAnyway(pid, "SIGKILL");
    await exited;
    // As long as one of them has the memory that they share, no other server starts on these files.
    while (pids.some(isAlive)) await pause(5);
    child = undefined;
  }

  await start();
  return {
    port,
    directory,
    url,
    tcpUrl: ({ port: at = port, schema = `store${++schemas}` } = {}) =>
      `postgres://${user}:${encodeURIComponent(password)}@127.0.0.1:${at}/postgres?schema=${schema}`,
    connect,
    sql,
    set,
    start,
    stop,
    kill,
    [Symbol.asyncDispose]: async () => {
      await stop();
      if (existsSync(directory)) rmSync(directory, { recursive: true });
    },
  };
}
