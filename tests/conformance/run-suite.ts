// Runs the public conformance suite's command line against a server or with a client, and reads what it found. A
// scenario passes when none of its checks failed; warnings are counted but, as in the suite, fail nothing.
import { type ChildProcess, spawn } from "node:child_process";
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { startFront } from "./front.ts";
import type { Rewrite } from "./rewrite.ts";

export type Revision = "2025-11-25" | "2026-07-28";

interface FailedScenario {
  scenario: string;
  checks: { id: string; message: string }[];
}

export interface SuiteResult {
  /** Of the scenarios the revision requires. */
  passed: number;
  total: number;
  failed: FailedScenario[];
  /** Scenarios the suite runs without scoring them: extensions and later additions. */
  unscored: { passed: number; total: number; failed: FailedScenario[] };
  warnings: FailedScenario[];
}

export interface ServerSuiteOptions {
  url: string;
  revision: Revision;
  /** The suite cannot send headers of its own: a front in between adds them. */
  headers?: Record<string, string>;
  rewrite?: Rewrite;
  /** Only this scenario. */
  scenario?: string;
  timeoutMs?: number;
}

export interface ClientSuiteOptions {
  /** Split at spaces and given to a shell, the server's address appended. */
  command: string;
  revision: Revision;
  scenario?: string;
  timeoutMs?: number;
}

interface Check {
  id: string;
  status: "SUCCESS" | "FAILURE" | "WARNING" | "SKIPPED" | "INFO";
  description: string;
  errorMessage?: string;
}

const suite = dirname(fileURLToPath(import.meta.resolve("@modelcontextprotocol/conformance/package.json")));
const scenarioTimeoutMs = 30_000;
/** All clients are started at once; most wait for their turn (client/serve-clients.ts). */
const clientsTimeoutMs = 300_000;

export async function runServerSuite(options: ServerSuiteOptions): Promise<SuiteResult> {
  const { url, revision, headers, rewrite, scenario, timeoutMs } = options;
  if (!headers && !rewrite) return runServers(url, revision, scenario, timeoutMs);
  const front = await startFront({ target: url, ...(headers && { headers }), ...(rewrite && { rewrite }) });
  try {
    return await runServers(front.url, revision, scenario, timeoutMs);
  } finally {
    await front.stop();
  }
}

export async function runClientSuite(options: ClientSuiteOptions): Promise<SuiteResult> {
  const { command, revision, scenario, timeoutMs } = options;
  const required = scenario ? [scenario] : await requiredScenarios(revision, "client");
  return judge(required, await checksOf("client", ["--command", command], revision, scenario, timeoutMs));
}

async function runServers(
  url: string,
  revision: Revision,
  scenario: string | undefined,
  timeoutMs: number | undefined,
): Promise<SuiteResult> {
  const required = scenario ? [scenario] : await requiredScenarios(revision, "server");
  return judge(required, await checksOf("server", ["--url", url], revision, scenario, timeoutMs));
}

async function checksOf(
  leg: "server" | "client",
  subject: string[],
  revision: Revision,
  scenario: string | undefined,
  timeoutMs = leg === "client" ? clientsTimeoutMs : 180_000,
): Promise<Map<string, Check[]>> {
  const directory = await mkdtemp(join(tmpdir(), "mcpx-conformance-"));
  try {
    const which = scenario
      ? ["--scenario", scenario, "--spec-version", revision, "--force"]
      : ["--requirements", revision];
    const patienceMs = leg === "client" && !scenario ? clientsTimeoutMs : scenarioTimeoutMs;
    const timeout = ["--timeout", String(patienceMs)];
    await runCli([leg, ...subject, ...which, ...timeout, "--output-dir", directory], directory, timeoutMs);
    return await readChecks(directory, leg);
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

/** The exit code is not looked at: the checks say more, and a required scenario without checks has failed. */
async function runCli(args: string[], cwd: string, timeoutMs: number): Promise<void> {
  // A group of its own, because a client under test is the grandchild of a shell.
  const child = spawn(process.execPath, [join(suite, "dist", "index.js"), ...args], {
    cwd,
    detached: true,
    stdio: "ignore",
  });
  const timer = setTimeout(() => endGroup(child), timeoutMs);
  try {
    await new Promise<void>((resolve, reject) => child.once("error", reject).once("exit", () => resolve()));
  } finally {
    clearTimeout(timer);
    endGroup(child);
  }
}

function endGroup({ pid }: ChildProcess): void {
  try {
    if (pid !== undefined) process.kill(-pid, "SIGKILL");
  } catch {
    // Nobody of the group is left.
  }
}

/** The suite's own list for the revision: `server:` and `client:`, each followed by `  - name` lines. */
async function requiredScenarios(revision: Revision, leg: "server" | "client"): Promise<string[]> {
  const yaml = await readFile(join(suite, "requirements", `${revision}.yaml`), "utf8");
  const section = yaml.split(/^(?=\w)/m).find((part) => part.startsWith(`${leg}:`)) ?? "";
  return [...section.matchAll(/^ {2}- (\S+)$/gm)].map(([, name = ""]) => name);
}

/** Results lie in `[server-]SCENARIO-TIMESTAMP/checks.json`; scenarios of clients may have a slash in their name. */
async function readChecks(directory: string, leg: "server" | "client"): Promise<Map<string, Check[]>> {
  const files = await readdir(directory, { recursive: true });
  const found = new Map<string, Check[]>();
  for (const file of files.filter((name) => name.endsWith("checks.json"))) {
    const stamped = dirname(file).replaceAll("\\", "/");
    const name = stamped.replace(/-\d{4}-\d\d-\d\dT[\d-]+Z$/, "");
    const scenario = leg === "server" ? name.replace(/^server-/, "") : name;
    found.set(scenario, JSON.parse(await readFile(join(directory, file), "utf8")) as Check[]);
  }
  return found;
}

function judge(required: string[], found: Map<string, Check[]>): SuiteResult {
  const failed = required.flatMap((scenario) => failureOf(scenario, found.get(scenario)));
  const others = [...found.keys()].filter((scenario) => !required.includes(scenario));
  const othersFailed = others.flatMap((scenario) => failureOf(scenario, found.get(scenario)));
  return {
    passed: required.length - failed.length,
    total: required.length,
    failed,
    unscored: { passed: others.length - othersFailed.length, total: others.length, failed: othersFailed },
    warnings: [...found].flatMap(([scenario, checks]) => withStatus(scenario, checks, "WARNING")),
  };
}

function failureOf(scenario: string, checks: Check[] | undefined): FailedScenario[] {
  if (!checks) return [{ scenario, checks: [{ id: scenario, message: "the scenario gave no result" }] }];
  return withStatus(scenario, checks, "FAILURE");
}

function withStatus(scenario: string, checks: Check[], status: Check["status"]): FailedScenario[] {
  const matching = checks
    .filter((check) => check.status === status)
    .map(({ id, errorMessage, description }) => ({ id, message: errorMessage ?? description }));
  return matching.length > 0 ? [{ scenario, checks: matching }] : [];
}
