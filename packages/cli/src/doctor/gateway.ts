// The gateway: running and answering, of this version and with this clock; or not running, and its port free.
import { once } from "node:events";
import { createServer } from "node:net";
import { isObject } from "@mcpx/protocol";
import { accessGateway } from "../access/gateway-access.ts";
import { openTree } from "../access/gateway-link.ts";
import { localUser } from "../files/local-store.ts";
import { Failure } from "../framework/failure.ts";
import { version } from "../framework/version.ts";
import { defaultHost, defaultPort } from "../settings/server-settings.ts";
import { type Check, type Finding, fault, ok, warning } from "./finding.ts";
import type { DoctorWorld } from "./world.ts";

const about = "gateway";
const answerMs = 5_000;
/** The header tells seconds, and the answer was on its way. */
const skewMsGood = 5_000;
const skewMsMax = 60_000;

export const gateway: Check = {
  name: about,
  doing: "asking the gateway",
  async run(world) {
    const { options, place } = world;
    const url = options.url ?? place?.url;
    return url === undefined ? [await judgePort(world)] : await judgeRunning(world, url);
  },
};

async function judgeRunning(world: DoctorWorld, url: string): Promise<Finding[]> {
  const { options, place } = world;
  const isOurs = options.url === undefined && place !== undefined;
  let response: Response;
  try {
    const signal = AbortSignal.timeout(answerMs);
    response = await fetch(new URL("/healthz", url), { signal, redirect: "error" });
    await response.body?.cancel();
  } catch {
    const fix = isOurs ? `kill ${place.pid}; mcpx up` : "start it there with mcpx up, and check --url";
    return [fault(about, `${url} does not answer`, fix)];
  }
  if (!response.ok) return [fault(about, `${url}/healthz answers ${response.status}`, "check --url")];
  const date = Date.parse(response.headers.get("date") ?? "");
  return [await judgeVersion(world, url), ...judgeClock(date, Date.now())];
}

async function judgeVersion(world: DoctorWorld, url: string): Promise<Finding> {
  const where =
    world.place === undefined || world.options.url !== undefined ? url : `${url}, pid ${world.place.pid}`;
  if (world.options.url !== undefined && (world.options.token ?? world.env.MCPX_TOKEN) === undefined)
    return ok(about, `it answers at ${where}`);
  try {
    const access = accessGateway(world, { sub: `cli:${localUser()}`, topics: [], tools: ["mcpax.status"] });
    const caller = await openTree(access);
    const { structuredContent } = await caller
      .request("tools/call", { name: "mcpax.status", arguments: {} })
      .finally(() => caller.close());
    const running = isObject(structuredContent) ? String(structuredContent.version) : "unknown";
    if (running === version) return ok(about, `version ${running} runs at ${where}`);
    return warning(
      about,
      `version ${running} runs at ${where}, and this is ${version}`,
      "stop it, then mcpx up",
    );
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    return warning(
      about,
      `something answers at ${where}, but it does not tell its version: ${error.message}`,
    );
  }
}

export function judgeClock(theirs: number, ours: number): Finding[] {
  if (Number.isNaN(theirs)) return [];
  const skewMs = theirs - ours;
  if (Math.abs(skewMs) <= skewMsGood) return [];
  const seconds = Math.round(Math.abs(skewMs) / 1_000);
  const text = `its clock is ${seconds} s ${skewMs > 0 ? "ahead of" : "behind"} this one, and tokens depend on it`;
  const fix = "sudo timedatectl set-ntp true, on both";
  return [Math.abs(skewMs) > skewMsMax ? fault("clock", text, fix) : warning("clock", text, fix)];
}

async function judgePort({ loaded }: DoctorWorld): Promise<Finding> {
  const { host = defaultHost, port = defaultPort } =
    loaded instanceof Failure ? {} : (loaded.config.listen ?? {});
  const code = await tryPort(host, port);
  const where = `port ${port} on ${host}`;
  if (code === undefined) return ok(about, `it does not run; ${where} is free`, "mcpx up");
  if (code === "EADDRINUSE")
    return fault(
      about,
      `it does not run, and another program uses ${where}`,
      "stop that program, or mcpx up --port 0",
    );
  if (code === "EACCES") return fault(about, `${where} is not allowed to this user`, "mcpx up --port 6279");
  return fault(about, `${host} is not an address of this machine (${code})`, "mcpx up --host 127.0.0.1");
}

async function tryPort(host: string, port: number): Promise<string | undefined> {
  const server = createServer();
  try {
    server.listen({ host, port, exclusive: true });
    await once(server, "listening");
    return undefined;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code ?? "unknown";
  } finally {
    server.close();
  }
}
