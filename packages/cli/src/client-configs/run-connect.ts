// What `mcpx connect` does: shows the change to a client's file, asks, makes a token and writes.
import type { JsonObject } from "@mcpx/protocol";
import { runningPlace } from "../access/running-gateway.ts";
import type { ConnectContext } from "../commands/tree/connect.ts";
import {
  type ConfigFile,
  lookAtConfig,
  openConfig,
  saveConfig,
  withServers,
} from "../config-edit/edit-config.ts";
import { dataDirOf } from "../files/data-dir.ts";
import { backUp, type ReadFile, readWhole, replaceFile } from "../files/replace-file.ts";
import { formatDuration } from "../framework/duration.ts";
import { misuse } from "../framework/failure.ts";
import { ask, consent, shellWord, shortPath, showDiff } from "../framework/show-change.ts";
import { visible } from "../framework/visible.ts";
import type { Client, ClientWorld } from "./client.ts";
import { type ClientServers, clientServersOf, withoutServers } from "./client-servers.ts";
import { clientOf } from "./clients.ts";
import { type Connection, keepConnection, readConnection, sha256Of } from "./connection.ts";
import { entryIn, fileSecrets, withEntry } from "./edit-client-file.ts";
import { setTable } from "./edit-toml.ts";
import { type EndpointWish, type MintedToken, mintFor, readEndpoint } from "./gateway-endpoint.ts";
import { restoreConfig } from "./restore-config.ts";
import { revokeToken } from "./revoke-token.ts";
import { entriesOf } from "./run-import.ts";
import { undoConnect } from "./undo-connect.ts";

/** What stands for a token that is not made yet. */
const placeholder = "•••";
/** A token that ends within this is replaced. */
const renewMs = 3 * 86_400_000;

interface Work {
  client: Client;
  path: string;
  config: ConfigFile;
  endpoint: EndpointWish;
  before: ReadFile | undefined;
  last: Connection | undefined;
  own: ClientServers;
}

/** What was changed in mcpx's configuration. */
type Moved = NonNullable<Connection["moved"]>;

export async function runConnect(context: ConnectContext, world: ClientWorld): Promise<number> {
  const { options, words } = context;
  const client = clientOf(words[0] ?? "");
  if (options.undo && options.print)
    throw misuse("--undo and --print cannot be combined", "use only one of them");
  if (options.move && options.keep)
    throw misuse("--move and --keep cannot be combined", "use only one of them");
  if (options.undo) return undoConnect(context, client, dataDirOf(context, options));
  const config = lookAtConfig(context);
  const endpoint = readEndpoint(context, client, config);
  if (options.print) return printEntry(context, client, config, endpoint);
  const path = client.files(world)[0]?.path ?? "";
  const last = readConnection(config.dataDir, client.id);
  const own = clientServersOf(client, world, config, path);
  return write(context, { client, path, config, endpoint, before: readWhole(path), last, own });
}

async function write(context: ConnectContext, work: Work): Promise<number> {
  const { options, output } = context;
  const { client, path, before, config, endpoint } = work;
  const text = before?.text ?? "";
  if (!options.json) showOwn(context, work);
  const names = (await wantsMove(context, work)) ? work.own.movable.map(({ name }) => name) : [];
  if (isConnected(work) && names.length === 0) {
    if (options.json) {
      output.json({ client: client.id, file: path, changed: false, backup: null, ...ownReport(work, names) });
    } else {
      output.line(`${client.title} is connected already, in ${shortPath(path, context)}`);
      warnOfOwn(context, work, names);
    }
    return 0;
  }
  const rest = withoutServers(text, names, client, path);
  const draft = withEntry(rest, client.entry({ ...endpoint, token: placeholder }), client, path);
  if (!options.json) {
    const verb = before === undefined ? "make" : "change";
    output.line(`${client.title}: this would ${verb} ${shortPath(path, context)}`);
    showDiff(context, text, draft, fileSecrets(text, client, path));
  }
  if (!(await consent(context, before === undefined ? "Make that file?" : "Write it?"))) {
    output.line("Nothing was written.");
    return 0;
  }
  const minted =
    client.reaches === "http" ? await mintFor({ ...context, ...config }, endpoint, client.title) : undefined;
  const entry = client.entry({ ...endpoint, token: minted?.token ?? "" });
  const moved = names.length === 0 ? undefined : takeServers(context, work, names);
  let backup: string | undefined;
  try {
    backup = await replace(context, work, withEntry(rest, entry, client, path), { minted, moved });
  } catch (error) {
    if (moved !== undefined) restoreConfig(moved);
    throw error;
  }
  tell(context, work, backup, { minted, names });
  return 0;
}

/** Which servers the client has of its own, and whether they are moved. */
function showOwn({ output }: ConnectContext, { client, own }: Work): void {
  if (own.all.length === 0) return;
  const count = own.all.length === 1 ? "1 server" : `${own.all.length} servers`;
  output.line(`${client.title} has ${count} of its own, which it starts past the gates of mcpx:`);
  for (const { name } of own.movable) output.line(`  ${visible(name)}`);
  for (const { name, why } of own.staying) output.line(visible(`  ${name}: stays there, ${why}`));
}

async function wantsMove(context: ConnectContext, { own }: Work): Promise<boolean> {
  const { options } = context;
  if (own.movable.length === 0 || options.keep) return false;
  if (options.move) return true;
  if (options.yes || options.json) return false;
  const answer = await ask(
    context,
    "Move them here, so that they are reached through the gates only? y or n (Enter: n)",
  );
  return answer !== undefined && /^y(es)?$/i.test(answer);
}

/** Into our configuration; those that are here already need nothing. */
function takeServers(context: ConnectContext, { own }: Work, names: readonly string[]): Moved {
  const file = openConfig(context);
  if (own.fresh.length === 0) return { names, config: file.path, sha256: "", original: undefined };
  const { backup } = saveConfig(file, withServers(file, entriesOf(own.fresh, undefined)), new Date());
  const original = file.before === undefined ? null : backup;
  const sha256 = sha256Of(readWhole(file.path)?.bytes ?? "");
  return { names, config: file.path, sha256, original };
}

function ownReport({ own }: Work, moved: readonly string[]): JsonObject {
  return { own: own.all.map(({ name }) => name), moved: [...moved] };
}

function warnOfOwn(
  { output, program }: ConnectContext,
  { client, own }: Work,
  moved: readonly string[],
): void {
  const left = own.all.filter(({ name }) => !moved.includes(name)).map(({ name }) => visible(name));
  if (left.length === 0) return;
  output.note(`mcpx: ${client.title} still starts ${left.join(", ")} by itself, past the gates`);
  const isMovable = own.movable.some(({ name }) => !moved.includes(name));
  if (isMovable) output.note(`mcpx: move them here with ${program} connect ${client.id} --move`);
}

/** Writes, and keeps what is needed for the way back. A token that could not be placed does not stay. */
async function replace(
  context: ConnectContext,
  { client, path, before, config, endpoint, last }: Work,
  after: string,
  { minted, moved }: { minted: MintedToken | undefined; moved: Moved | undefined },
): Promise<string | undefined> {
  const bytes = Buffer.from(`${before?.bom ?? ""}${after}`);
  let backup: string | undefined;
  try {
    backup = before === undefined ? undefined : backUp(path, before, new Date());
    replaceFile(path, bytes, before?.mode ?? 0o600, before);
  } catch (error) {
    if (minted !== undefined) await revokeToken(context, minted.jti);
    throw error;
  }
  // Connected twice, the way back leads to before the first time, unless others wrote in between.
  const isOurs =
    last?.file === path && before !== undefined && entryIn(before.text, client, path) !== undefined;
  const isUntouched = isOurs && sha256Of(before.bytes) === last.sha256;
  const original = isOurs ? (isUntouched ? last.original : undefined) : (backup ?? null);
  const { url, tools, ttlMs } = endpoint;
  const token = minted && { jti: minted.jti, expiresAt: minted.expiresAt };
  keepConnection(config.dataDir, client.id, {
    file: path,
    sha256: sha256Of(bytes),
    original,
    url,
    tools,
    ttlMs,
    ...token,
    ...withMoved(last, moved),
  });
  if (last?.jti !== undefined) await revokeToken(context, last.jti);
  return backup;
}

/** Moved twice, the way back leads to before the first time, as far as nobody else wrote in between. */
function withMoved(last: Connection | undefined, moved: Moved | undefined): Pick<Connection, "moved"> {
  const before = last?.moved;
  if (moved === undefined || before === undefined) return { moved: moved ?? before };
  const names = [...new Set([...before.names, ...moved.names])];
  if (moved.original === undefined) return { moved: { ...before, names } };
  const wasUntouched =
    moved.original !== null && sha256Of(readWhole(moved.original)?.bytes ?? "") === before.sha256;
  return { moved: { ...moved, names, original: wasUntouched ? before.original : moved.original } };
}

/** The same endpoint is there already, with a token that still counts for a while. */
function isConnected({ client, path, before, endpoint, last }: Work): boolean {
  if (before === undefined || last === undefined || last.file !== path) return false;
  const entry = entryIn(before.text, client, path);
  if (entry === undefined) return false;
  const isSame =
    last.url === endpoint.url &&
    last.ttlMs === endpoint.ttlMs &&
    String(last.tools) === String(endpoint.tools);
  if (client.reaches === "stdio")
    return isSame && JSON.stringify(entry) === JSON.stringify(client.entry({ ...endpoint, token: "" }));
  const text = JSON.stringify(entry);
  const isLasting = (last.expiresAt ?? 0) - Date.now() > Math.min(renewMs, last.ttlMs / 2);
  return isSame && isLasting && text.includes(JSON.stringify(endpoint.url)) && /Bearer eyJ/.test(text);
}

function tell(
  context: ConnectContext,
  work: Work,
  backup: string | undefined,
  { minted, names }: { minted: MintedToken | undefined; names: readonly string[] },
): void {
  const { options, output, program } = context;
  const { client, path, before, endpoint, config } = work;
  if (options.json) {
    const token = minted && {
      jti: minted.jti,
      id: endpoint.id,
      expires_at: new Date(minted.expiresAt).toISOString(),
    };
    output.json({
      client: client.id,
      file: path,
      changed: true,
      backup: backup ?? null,
      token: token ?? null,
      ...ownReport(work, names),
    });
    return;
  }
  output.line(`connected ${client.title}; restart it to see the tools`);
  if (names.length > 0) output.line(`moved here: ${visible(names.join(", "))}`);
  warnOfOwn(context, work, names);
  if (minted !== undefined) {
    output.line(
      `its token is ${endpoint.id}'s, for ${endpoint.tools.join(" ")}, and is valid for ${formatDuration(endpoint.ttlMs)}`,
    );
  }
  if (minted !== undefined && ((before?.mode ?? 0) & 0o077) !== 0) {
    output.note(`mcpx: others on this machine may read the token there; chmod 600 ${shellWord(path)}`);
  }
  if (runningPlace(config.dataDir) === undefined)
    output.note(`mcpx: the gateway does not run; start it with ${program} up`);
  if (client.hint !== undefined) output.note(`mcpx: ${program} ${client.hint}`);
  if (backup !== undefined) output.note(`backup: ${shortPath(backup, context)}`);
  output.note(`undo: ${program} connect ${client.id} --undo`);
}

async function printEntry(
  { env, options, output }: ConnectContext,
  client: Client,
  { dataDir }: ConfigFile,
  endpoint: EndpointWish,
): Promise<number> {
  const token =
    client.reaches === "http" ? (await mintFor({ dataDir, env }, endpoint, client.title)).token : "";
  const entry = client.entry({ ...endpoint, token });
  const [group, name] = client.entryPath;
  const nested: JsonObject = { [group]: { [name]: entry } };
  if (options.json) output.json(nested);
  else if (client.format === "toml") output.line(setTable("", client.entryPath, entry).trimEnd());
  else output.line(JSON.stringify(nested, null, 2));
  return 0;
}
