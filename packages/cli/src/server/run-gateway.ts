// What `mcpx up` does: starts everything, says where, waits for its end and ends cleanly.
import { createLogger, type Logger, type SpanStarter } from "@mcpx/host";
import { judgeApprovers, settleEnrolled } from "../access/approvers.ts";
import { type HeldConfig, holdConfig, withChain } from "../access/authority.ts";
import { localUrl } from "../access/local-url.ts";
import { type GatewayPlace, readPlace, removePlace, writePlace } from "../access/running-gateway.ts";
import type { UpContext } from "../commands/gateway/up.ts";
import { makeAcceptedDir } from "../config/accepted-files.ts";
import { type LoadedConfig, loadConfig } from "../config/config.ts";
import { watchedPlaces } from "../config/find-config.ts";
import { waitingText } from "../config/trust-words.ts";
import { consoleUrl } from "../console/console-url.ts";
import { startDemo, withDemo } from "../console/demo/start-demo.ts";
import { hasDemoBoard, startDemoBoard } from "../console/demo/start-demo-board.ts";
import { openBrowser } from "../console/open-browser.ts";
import { type Configuration, createConfiguration } from "../console/servers/configuration.ts";
import { dataDirOf, makeDataDir } from "../files/data-dir.ts";
import { type DataLock, takeLock } from "../files/data-lock.ts";
import { type KnownStore, settleStore } from "../files/open-store.ts";
import { createSecretCommands } from "../files/secret-commands.ts";
import type { Home } from "../files/state-place.ts";
import { Failure, misuse } from "../framework/failure.ts";
import { startFailure } from "../framework/start-failure.ts";
import { type ServerSettings, serverSettings } from "../settings/server-settings.ts";
import { storeWish } from "../settings/store-settings.ts";
import { offerTrust } from "../trust/offer-trust.ts";
import { followConfig, placesOf } from "./follow-config.ts";
import { oauthIn } from "./oauth.ts";
import { openTraces } from "./open-traces.ts";
import { type StartedGateway, startGateway } from "./start-gateway.ts";
import { type UpFacts, upScreen } from "./up-screen.ts";
import { contentsOf } from "./watch-config.ts";

/** Beyond the time the gateway gives its connections to end. */
const endGraceMs = 4_000;

export async function runGateway(context: UpContext): Promise<number> {
  const { options, output, cwd } = context;
  const dataDir = dataDirOf(context, options);
  const port = readPort(options.port);
  const places = { given: options.config, cwd, dataDir };
  await offerTrust(context, places);
  const seen = contentsOf(watchedPlaces(places));
  const written = loadConfig(places);
  const log = createLogger({ level: written.config.log?.level ?? "info", pretty: output.isErrorTerminal });
  const home = { dataDir, env: context.env };
  const ending = new AsyncDisposableStack();
  const credentialsFor = oauthIn(home, log, ending.use(new AsyncDisposableStack()));
  const commands = createSecretCommands({ env: context.env });
  const settingsOf = (one: LoadedConfig) =>
    serverSettings(one, { host: options.host, port, env: context.env, credentialsFor, commands });
  // Nothing is configured: somebody looks for the first time.
  const isDemo = written.path === undefined && !options["no-demo"];
  settingsOf(written);
  makeDataDir(dataDir, (line) => log.warn({ dataDir }, line));
  try {
    const lock = lockOrFail(dataDir);
    ending.defer(() => {
      removePlace(dataDir);
      lock.release();
    });
    makeAcceptedDir(dataDir);
    const store = await settleStore(home, storeWish(written));
    const { loaded, held, hasApprover } = await holdAtStart(home, written);
    await commands.prepare(loaded.config);
    const settings = isDemo ? withDemo(settingsOf(loaded)) : settingsOf(loaded);
    let reload: (() => void) | undefined;
    // A terminal that is closed hangs up; without one, it is somebody who asks for the new configuration.
    const hasTerminal = output.isTerminal || output.isErrorTerminal;
    const interrupted = context.interrupted(hasTerminal ? undefined : () => reload?.());
    const configuration = createConfiguration({
      ...{ env: context.env, places: placesOf(loaded, places) },
      check: (one) => void settingsOf(one),
      reload: () => reload?.(),
    });
    const traces = openTraces(context.env, log);
    ending.defer(async () => traces?.close());
    const started = { ...settings, isDemo, configuration, tracer: traces?.tracer };
    const gateway = await start(dataDir, { ...started, ...(store && { store }) }, log);
    ending.defer(() => stop(gateway, settings, log));
    if (isDemo) await startDemo({ ...gateway, log }).then((demo) => ending.defer(demo.stop));
    const url = localUrl(gateway.url, settings.listen);
    const waiting = (path: string) => context.hint(waitingText(path, dataDir));
    const followed = followConfig({
      loaded,
      held,
      settings,
      places,
      seen,
      settingsOf,
      prepare: commands.prepare,
      gateway,
      waiting,
      log,
    });
    ending.defer(followed.close);
    reload = followed.reload;
    writePlace(dataDir, placeOf(loaded, { url, names: gateway.namesKey, isDemo }));
    const path = context.env.PATH;
    await announce(context, {
      ...{ url, dataDir, configPath: loaded.path, isDemo },
      // Servers of the demo are not counted.
      servers: isDemo ? 0 : (settings.tree?.servers.length ?? 0),
      link: gateway.console.isBuilt ? consoleUrl(url, gateway.console.loginPath()) : undefined,
      hasBoard: isDemo && hasDemoBoard(path),
      needsApprover: !isDemo && !hasApprover,
    });
    if (isDemo) ending.defer(startDemoBoard({ ...gateway, path, log }).stop);
    await untilAborted(interrupted);
    return 0;
  } finally {
    await ending.disposeAsync();
  }
}

/** What other commands are told of the gateway that runs. */
function placeOf(
  { path, accepted }: LoadedConfig,
  { url, names, isDemo }: { url: string; names: string; isDemo: boolean },
): GatewayPlace {
  return {
    ...{ url, pid: process.pid, names },
    ...(isDemo && { isDemo }),
    ...(path !== undefined && { config: path }),
    ...(accepted !== undefined && { isAccepted: true }),
  };
}

/** As it may count now; what an approver has to sign first is held back. */
async function holdAtStart(
  home: Home,
  written: LoadedConfig,
): Promise<HeldConfig & { hasApprover: boolean }> {
  return await withChain(home, { mayCreate: true }, async ({ chain, approvers }) => {
    const store = await approvers();
    await settleEnrolled(chain, store);
    const { loaded, held } = await holdConfig(chain, written);
    const configured = loaded.config.gates?.anchors ?? [];
    const hasApprover = configured.length + judgeApprovers(await store.list()).keys.length > 0;
    return { loaded, held, hasApprover };
  });
}

function lockOrFail(dataDir: string): DataLock {
  const lock = takeLock(dataDir);
  if (lock !== undefined) return lock;
  const holder = readPlace(dataDir);
  const who = holder === undefined ? "is starting" : `runs: pid ${holder.pid}, ${holder.url}`;
  throw new Failure(
    `a gateway on ${dataDir} already ${who}`,
    "use that one, or another directory with --data DIR",
  );
}

async function start(
  dataDir: string,
  settings: ServerSettings & {
    isDemo: boolean;
    configuration: Configuration;
    tracer: SpanStarter | undefined;
    store?: KnownStore;
  },
  log: Logger,
): Promise<StartedGateway> {
  try {
    return await startGateway({ dataDir, log, ...settings });
  } catch (error) {
    throw startFailure(error, settings.listen);
  }
}

async function announce(context: UpContext, facts: UpFacts): Promise<void> {
  const { options, output } = context;
  const { url, dataDir, link } = facts;
  if (options.json) output.json({ url, dataDir, pid: process.pid, ...(link && { console: link }) });
  else output.line(upScreen(context, facts));
  if (link === undefined) output.note("mcpx: the web console is not built; in the sources: npm run console");
  else if (options.open && !(await openBrowser(link))) {
    output.note("mcpx: no browser could be opened; open the link yourself");
  }
}

function untilAborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });
}

async function stop(gateway: StartedGateway, { limits }: ServerSettings, log: Logger): Promise<void> {
  log.info("stopping: waiting for open requests");
  const watchdog = setTimeout(() => {
    log.fatal("stopping took too long; exiting without waiting");
    process.exit(1);
  }, limits.drainMs + endGraceMs);
  await gateway.stop();
  clearTimeout(watchdog);
  log.info("stopped");
}

function readPort(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  if (/^[0-9]{1,5}$/.test(text) && Number(text) <= 65_535) return Number(text);
  throw misuse(`invalid value "${text}" for --port`, "expected a number from 0 to 65535");
}
