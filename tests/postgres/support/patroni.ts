// Three engines under Patroni, with an etcd: who is the primary is theirs to say. Debian 12 has Patroni 3.0.2, which loses
// what was acknowledged; a newer one is unpacked beside it, and MCPX_PATRONI names the directory.
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import {
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { freePort } from "../../support/free-port.ts";
import { binary, keeper, ownerOf, password, signalAnyway, user } from "../../support/postgres-server.ts";

const unpacked = process.env.MCPX_PATRONI;
const program = join(unpacked ?? "/", "usr", "bin", "patroni");
const etcdProgram = [join(unpacked ?? "/", "usr", "bin", "etcd"), "/usr/bin/etcd"].find((path) =>
  existsSync(path),
);
const env = {
  ...process.env,
  ...(unpacked && { PYTHONPATH: join(unpacked, "usr", "lib", "python3", "dist-packages") }),
};

/** 3.0.3 or later, with an etcd. */
export function hasPatroni(): boolean {
  if (!existsSync(program) || etcdProgram === undefined) return false;
  const said = execFileSync("python3", [program, "--version"], { env, encoding: "utf8" });
  const [major = 0, minor = 0, patch = 0] = (/\d+\.\d+\.\d+/.exec(said)?.[0] ?? "").split(".").map(Number);
  return major * 1e6 + minor * 1e3 + patch >= 3_000_003;
}

export interface PatroniNode {
  readonly name: string;
  readonly port: number;
  /** As it says itself; `others` are how many standbys would be promoted, because they have all that is acknowledged. */
  leads(): Promise<{ others: number } | undefined>;
  /** Of Patroni and of the engine, all their processes. */
  signal(signal: NodeJS.Signals): void;
}

export interface PatroniCluster extends AsyncDisposable {
  readonly nodes: readonly PatroniNode[];
  /** All nodes, over TCP. */
  url(schema: string): string;
}

export async function startPatroni(): Promise<PatroniCluster> {
  const directory = mkdtempSync(join(tmpdir(), "mcpx-patroni-"));
  const owner = ownerOf();
  const children: ChildProcess[] = [];
  const own = (path: string) => {
    if (owner.uid !== undefined && owner.gid !== undefined) chownSync(path, owner.uid, owner.gid);
  };
  own(directory);
  const run = (words: string[], cwd: string) => {
    const child = spawn("sh", ["-c", keeper, ...words], {
      ...owner,
      cwd,
      env,
      stdio: ["pipe", "ignore", "ignore"],
    });
    children.push(child);
    return child;
  };
  const [etcdPort, peerPort] = [await freePort(), await freePort()];
  const etcdUrl = `http://127.0.0.1:${etcdPort}`;
  const peerUrl = `http://127.0.0.1:${peerPort}`;
  const etcdWords = ["--data-dir", join(directory, "etcd"), "--listen-client-urls", etcdUrl];
  const etcdPeer = ["--listen-peer-urls", peerUrl, "--initial-advertise-peer-urls", peerUrl];
  const etcdNames = ["--initial-cluster", `default=${peerUrl}`, "--advertise-client-urls", etcdUrl];
  run([etcdProgram ?? "etcd", ...etcdWords, ...etcdPeer, ...etcdNames], directory);

  const nodes: PatroniNode[] = [];
  for (const name of ["one", "two", "three"]) {
    const [port, restPort] = [await freePort(), await freePort()];
    const home = join(directory, name);
    mkdirSync(home, { mode: 0o700 });
    own(home);
    const file = join(home, "patroni.json");
    writeFileSync(file, JSON.stringify(settingsOf({ name, home, port, restPort, etcdPort })));
    const child = run(["python3", program, file], home);
    nodes.push({
      name,
      port,
      async leads() {
        const told = await ask(restPort);
        const roles = told.map((member) => `${member.name} ${member.role} ${member.state}`);
        if (!roles.includes(`${name} leader running`)) return undefined;
        return { others: told.filter(({ role }) => role === "sync_standby").length };
      },
      signal(signal) {
        for (const pid of [...below(child.pid ?? 0), ...engineOf(home)]) signalAnyway(pid, signal);
      },
    });
  }
  return {
    nodes,
    url: (schema) => {
      const hosts = nodes.map(({ port }) => `127.0.0.1:${port}`).join(",");
      return `postgres://${user}:${encodeURIComponent(password)}@${hosts}/postgres?schema=${schema}`;
    },
    async [Symbol.asyncDispose]() {
      for (const node of nodes) node.signal("SIGKILL");
      await Promise.all(
        children.map(async (child) => {
          if (child.exitCode !== null || child.signalCode !== null) return;
          const exited = once(child, "exit");
          child.stdin?.end();
          await exited;
        }),
      );
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

interface Place {
  name: string;
  home: string;
  port: number;
  restPort: number;
  etcdPort: number;
}

interface Member {
  name: string;
  role: string;
  state: string;
}

/** None where it does not answer. */
async function ask(restPort: number): Promise<Member[]> {
  try {
    const signal = AbortSignal.timeout(1_000);
    const told = await (await fetch(`http://127.0.0.1:${restPort}/cluster`, { signal })).json();
    return (told as { members: Member[] }).members;
  } catch {
    return [];
  }
}

/** Its YAML may be JSON. The times are the shortest that it allows. */
function settingsOf({ name, home, port, restPort, etcdPort }: Place): object {
  const hba = [
    "local all all trust",
    "host all all 127.0.0.1/32 scram-sha-256",
    "host replication repl 127.0.0.1/32 scram-sha-256",
  ];
  return {
    scope: "mcpx",
    name,
    restapi: { listen: `127.0.0.1:${restPort}`, connect_address: `127.0.0.1:${restPort}` },
    etcd3: { host: `127.0.0.1:${etcdPort}` },
    bootstrap: {
      dcs: { ttl: 20, loop_wait: 2, retry_timeout: 3, synchronous_mode: true, synchronous_mode_strict: true },
      initdb: [{ encoding: "UTF8" }, { locale: "C" }, "no-sync"],
    },
    postgresql: {
      listen: `127.0.0.1:${port}`,
      connect_address: `127.0.0.1:${port}`,
      data_dir: join(home, "data"),
      bin_dir: dirname(binary("postgres")),
      pgpass: join(home, "pgpass"),
      pg_hba: hba,
      parameters: { unix_socket_directories: home },
      // What only a lost primary had was acknowledged by nobody.
      use_pg_rewind: true,
      remove_data_directory_on_rewind_failure: true,
      remove_data_directory_on_diverged_timelines: true,
      authentication: {
        superuser: { username: user, password },
        replication: { username: "repl", password: "of tests" },
      },
    },
  };
}

/** With all that it has started and that is still below it. */
function below(pid: number): number[] {
  const path = `/proc/${pid}/task/${pid}/children`;
  if (!existsSync(path)) return [];
  const children = readFileSync(path, "utf8").split(" ").filter(Boolean).map(Number);
  return children.flatMap((child) => [child, ...below(child)]);
}

function engineOf(home: string): number[] {
  const data = join(home, "data");
  if (!existsSync(data) || !readdirSync(data).includes("postmaster.pid")) return [];
  const postmaster = Number(readFileSync(join(data, "postmaster.pid"), "utf8").split("\n")[0]);
  return [postmaster, ...below(postmaster)];
}
