// What `mcpx connect` does: shows the change to a client's file, asks, makes a token and writes.
import type { JsonObject } from "@mcpx/protocol";
import { runningPlace } from "../access/running-gateway.ts";
import type { ConnectContext } from "../commands/connect.ts";
import { type ConfigFile, lookAtConfig } from "../config-edit/edit-config.ts";
import { dataDirOf } from "../files/data-dir.ts";
import { backUp, type ReadFile, readWhole, replaceFile } from "../files/replace-file.ts";
import { formatDuration } from "../framework/duration.ts";
import { misuse } from "../framework/failure.ts";
import { consent, shellWord, shortPath, showDiff } from "../framework/show-change.ts";
import type { Client, ClientWorld } from "./client.ts";
import { clientOf } from "./clients.ts";
import { type Connection, keepConnection, readConnection, sha256Of } from "./connection.ts";
import { type DoorWish, type MintedToken, mintFor, readDoor } from "./door.ts";
import { entryIn, fileSecrets, withEntry } from "./edit-client-file.ts";
import { setTable } from "./edit-toml.ts";
import { revokeToken } from "./revoke-token.ts";
import { undoConnect } from "./undo-connect.ts";

/** What stands for a token that is not made yet. */
const placeholder = "•••";
/** A token that ends within this is replaced. */
const renewMs = 3 * 86_400_000;

interface Work {
  client: Client;
  path: string;
  config: ConfigFile;
  door: DoorWish;
  before: ReadFile | undefined;
  last: Connection | undefined;
}

export async function runConnect(context: ConnectContext, world: ClientWorld): Promise<number> {
  const { options, words } = context;
  const client = clientOf(words[0] ?? "");
  if (options.undo && options.print)
    throw misuse("--undo and --print do not go together", "give one of them");
  if (options.undo) return undoConnect(context, client, dataDirOf(context, options));
  const config = lookAtConfig(context);
  const door = readDoor(context, client, config);
  if (options.print) return printEntry(context, client, config, door);
  const path = client.files(world)[0]?.path ?? "";
  const last = readConnection(config.dataDir, client.id);
  return write(context, { client, path, config, door, before: readWhole(path), last });
}

async function write(context: ConnectContext, work: Work): Promise<number> {
  const { options, output } = context;
  const { client, path, before, config, door } = work;
  const text = before?.text ?? "";
  if (isConnected(work)) {
    if (options.json) output.json({ client: client.id, file: path, changed: false, backup: null });
    else output.line(`${client.title} is connected already, in ${shortPath(path, context)}`);
    return 0;
  }
  const draft = withEntry(text, client.entry({ ...door, token: placeholder }), client, path);
  if (!options.json) {
    const verb = before === undefined ? "make" : "change";
    output.line(`${client.title}: this would ${verb} ${shortPath(path, context)}`);
    showDiff(context, text, draft, fileSecrets(text, client, path));
  }
  if (!(await consent(context, before === undefined ? "Make that file?" : "Write it?"))) {
    output.line("Nothing was written.");
    return 0;
  }
  const minted = client.reaches === "http" ? await mintFor(config.dataDir, door, client.title) : undefined;
  const entry = client.entry({ ...door, token: minted?.token ?? "" });
  const backup = await replace(context, work, withEntry(text, entry, client, path), minted);
  tell(context, work, backup, minted);
  return 0;
}

/** Writes, and keeps what is needed for the way back. A token that could not be placed does not stay. */
async function replace(
  context: ConnectContext,
  { client, path, before, config, door, last }: Work,
  after: string,
  minted: MintedToken | undefined,
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
  const { url, tools, ttlMs } = door;
  const token = minted && { jti: minted.jti, expiresAt: minted.expiresAt };
  keepConnection(config.dataDir, client.id, {
    file: path,
    sha256: sha256Of(bytes),
    original,
    url,
    tools,
    ttlMs,
    ...token,
  });
  if (last?.jti !== undefined) await revokeToken(context, last.jti);
  return backup;
}

/** The same door is there already, with a token that still counts for a while. */
function isConnected({ client, path, before, door, last }: Work): boolean {
  if (before === undefined || last === undefined || last.file !== path) return false;
  const entry = entryIn(before.text, client, path);
  if (entry === undefined) return false;
  const isSame =
    last.url === door.url && last.ttlMs === door.ttlMs && String(last.tools) === String(door.tools);
  if (client.reaches === "stdio")
    return isSame && JSON.stringify(entry) === JSON.stringify(client.entry({ ...door, token: "" }));
  const text = JSON.stringify(entry);
  const isLasting = (last.expiresAt ?? 0) - Date.now() > Math.min(renewMs, last.ttlMs / 2);
  return isSame && isLasting && text.includes(JSON.stringify(door.url)) && /Bearer eyJ/.test(text);
}

function tell(
  context: ConnectContext,
  { client, path, before, door, config }: Work,
  backup: string | undefined,
  minted: MintedToken | undefined,
): void {
  const { options, output, program } = context;
  if (options.json) {
    const token = minted && {
      jti: minted.jti,
      id: door.id,
      expires_at: new Date(minted.expiresAt).toISOString(),
    };
    output.json({
      client: client.id,
      file: path,
      changed: true,
      backup: backup ?? null,
      token: token ?? null,
    });
    return;
  }
  output.line(`connected ${client.title}; restart it to see the tools`);
  if (minted !== undefined) {
    output.line(
      `its token is ${door.id}'s, for ${door.tools.join(" ")}, and counts for ${formatDuration(door.ttlMs)}`,
    );
  }
  if (minted !== undefined && ((before?.mode ?? 0) & 0o077) !== 0) {
    output.note(`mcpx: others on this machine may read the token there; chmod 600 ${shellWord(path)}`);
  }
  if (runningPlace(config.dataDir) === undefined)
    output.note(`mcpx: the gateway does not run; start it with ${program} up`);
  if (backup !== undefined) output.note(`backup: ${shortPath(backup, context)}`);
  output.note(`undo: ${program} connect ${client.id} --undo`);
}

async function printEntry(
  { options, output }: ConnectContext,
  client: Client,
  { dataDir }: ConfigFile,
  door: DoorWish,
): Promise<number> {
  const token = client.reaches === "http" ? (await mintFor(dataDir, door, client.title)).token : "";
  const entry = client.entry({ ...door, token });
  const [group, name] = client.entryPath;
  const nested: JsonObject = { [group]: { [name]: entry } };
  if (options.json) output.json(nested);
  else if (client.format === "toml") output.line(setTable("", client.entryPath, entry).trimEnd());
  else output.line(JSON.stringify(nested, null, 2));
  return 0;
}
