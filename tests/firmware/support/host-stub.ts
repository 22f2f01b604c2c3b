// The C stubs as processes of this machine, each on a socket whose path stays: they can die and come again.
import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { access, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { vi } from "vitest";
import { keepBuilt } from "../../../scripts/firmware/keep-built.ts";

const run = promisify(execFile);
const firmware = join(import.meta.dirname, "..", "..", "..", "firmware");

interface HostStub {
  readonly path: string;
  start(): Promise<void>;
  /** `SIGSTOP` makes it silent, `SIGCONT` lets it speak again. */
  signal(signal: NodeJS.Signals): void;
  kill(): Promise<void>;
}

export interface HostStubs extends AsyncDisposable {
  /** Started, on a path of its own. */
  start(profile: "a" | "b"): Promise<HostStub>;
}

export async function buildHostStubs(): Promise<HostStubs> {
  const directory = await mkdtemp(join(tmpdir(), "mcpx-host-stubs-"));
  const programs = { a: await build("a"), b: await build("b") };
  const stubs: HostStub[] = [];
  return {
    start: async (profile) => {
      const stub = createStub(programs[profile], join(directory, `line-${stubs.length}`));
      stubs.push(stub);
      await stub.start();
      return stub;
    },
    [Symbol.asyncDispose]: async () => {
      for (const stub of stubs) await stub.kill();
      await rm(directory, { recursive: true, force: true });
    },
  };
}

async function build(profile: "a" | "b"): Promise<string> {
  const sources = [`profile-${profile}/mcpx_${profile}.c`, `demo/demo_${profile}.c`, "host/board.c"];
  const flags = ["-std=gnu99", "-O1", "-Wall", "-Wextra", "-Werror"];
  const files = sources.map((source) => join(firmware, source));
  const kept = await keepBuilt({ compiler: "gcc", words: [...flags, ...files] }, (directory) =>
    run("gcc", [...flags, "-o", join(directory, "stub"), ...files]),
  );
  return join(kept, "stub");
}

function createStub(program: string, path: string): HostStub {
  let child: ChildProcess | undefined;
  const kill = async () => {
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const exited = once(child, "exit");
    child.kill("SIGKILL");
    await exited;
  };
  return {
    path,
    start: async () => {
      await kill();
      await rm(path, { force: true });
      child = spawn(program, [path], { stdio: "ignore" });
      await vi.waitFor(() => access(path), { interval: 5 });
    },
    signal: (signal) => void child?.kill(signal),
    kill,
  };
}
