// What `mcpx register` does: a tree of one server, which it starts itself, registered under a segment of another.
import { createHash, randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { createTree, openLink, type ParentOptions, registerAt, type Transport } from "@mcpx/aggregator";
import { createLogger, systemClock } from "@mcpx/host";
import { authScopes, defaultLimits } from "@mcpx/protocol";
import type { RegisterContext } from "./commands/register.ts";
import { dataDirOf } from "./data-dir.ts";
import { durationRule, parseDuration } from "./duration.ts";
import { Failure, misuse } from "./failure.ts";
import { accessGateway } from "./gateway-access.ts";
import { runningPlace } from "./running-gateway.ts";
import { version } from "./version.ts";

export async function runRegister(context: RegisterContext): Promise<number> {
  const { output, options, words } = context;
  const [url = "", segment = ""] = words;
  const log = createLogger({ level: "warn" });
  const transport = readServer(context);
  const signal = context.interrupted();
  const tree = createTree({
    name: "mcpx",
    version,
    servers: [
      {
        name: segment,
        segment: undefined,
        // What it says of itself is for the tree above to believe or not.
        isTrusted: true,
        isUnpinned: true,
        callMs: 0,
        listMs: 60_000,
        open: (opening, taker) =>
          openLink(
            { name: segment, transport, ...opening },
            { ...taker, remark: (line) => output.note(`[${segment}] ${line}`) },
          ),
      },
    ],
    clock: systemClock,
    log,
    secret: Buffer.from(randomUUID()),
    isBridge: true,
  });
  const parent = registerAt(parentOptions(context, url, segment), {
    subserverId: idFor(context, segment),
    tree,
    subtreeIds: undefined,
    clock: systemClock,
    log,
    limits: defaultLimits,
    onState: (state, error) => say(context, segment, state, error),
  });
  signal.addEventListener("abort", () => void parent.close(), { once: true });
  try {
    const { registered, ended } = parent.registration;
    const answer = await registered.catch(() => undefined);
    if (answer !== undefined && options.json) output.json({ event: "registered", ...answer });
    const error = await ended;
    if (error !== undefined)
      throw new Failure(error.message, "see mcpx tree there, and mcpx token --segment");
    return 0;
  } finally {
    await tree.close();
  }
}

function say({ output, options }: RegisterContext, segment: string, state: string, error?: Error): void {
  if (options.json) return;
  if (state === "registered") output.line(`${segment} is part of the tree; Ctrl-C ends`);
  else if (state === "waiting") output.note(`-- not registered: ${error?.message ?? "lost"}; trying again`);
}

function readServer({ options, words, cwd, env }: RegisterContext): Transport {
  const [, , command, ...args] = words;
  const { server } = options;
  if ((server === undefined) === (command === undefined)) {
    throw misuse(
      server === undefined ? "there is no server to register" : "--server and a command do not go together",
      "write mcpx register URL SEGMENT -- CMD…, or --server URL instead of the command",
    );
  }
  if (server !== undefined) return { type: "auto-http", url: server };
  // Our own token is none of its business.
  const { MCPX_TOKEN: _, ...rest } = env;
  return { type: "stdio", command: command ?? "", args, cwd, env: rest };
}

function parentOptions(context: RegisterContext, url: string, segment: string): ParentOptions {
  const { options, cwd } = context;
  const { authority, backup, heartbeat, insecure, ca, cert, scope = "write" } = options;
  const granted = authScopes.find((one) => one === scope);
  if (granted === undefined) throw misuse(`--scope ${scope} is not one`, `use ${authScopes.join(", ")}`);
  const heartbeatMs = heartbeat === undefined ? undefined : parseDuration(heartbeat);
  if (heartbeat !== undefined && heartbeatMs === undefined)
    throw misuse(`--heartbeat ${heartbeat} is not ${durationRule}`, "write for example 5s");
  const isOurs = runningPlace(dataDirOf(context, options))?.url === url.replace(/\/$/, "");
  const hasCertificate = cert !== undefined;
  const claims = { sub: `register:${segment}`, topics: [], segment, scope: granted };
  const access =
    hasCertificate && options.token === undefined
      ? undefined
      : accessGateway(
          { ...context, options: { ...options, url: isOurs ? undefined : url.replace(/^ws/, "http") } },
          claims,
          "URL",
        );
  const pem = (file: string | undefined) => file && readPem(resolve(cwd, file));
  return {
    url,
    segment,
    token: access && (async () => (await access.enter()).token),
    authority: authority === undefined ? undefined : `dns:${authority}`,
    backups: backup,
    heartbeatMs,
    tls: { ca: pem(ca), cert: pem(cert), key: pem(options["cert-key"]) },
    isInsecure: insecure,
  };
}

function readPem(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    throw new Failure(`${path} cannot be read (${(error as NodeJS.ErrnoException).code})`, "give a PEM file");
  }
}

/** The same for the same segment of the same data directory: it is known again after a restart. */
function idFor(context: RegisterContext, segment: string): string {
  const place = `${dataDirOf(context, context.options)}\n${segment}`;
  const hex = createHash("sha256").update(place).digest("hex");
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}
