// `mcpx connect CLIENT --undo`: the client's file as it was. Where others wrote into it since, only our entry goes.
import { rmSync } from "node:fs";
import { isObject, type JsonObject } from "@mcpx/protocol";
import type { ConnectContext } from "../commands/tree/connect.ts";
import { backUp, checkUnchanged, type ReadFile, readWhole, replaceFile } from "../files/replace-file.ts";
import { Failure } from "../framework/failure.ts";
import { consent, shortPath, showDiff } from "../framework/show-change.ts";
import { visible } from "../framework/visible.ts";
import type { Client } from "./client.ts";
import { withServersOf } from "./client-servers.ts";
import { type Connection, forgetConnection, readConnection, sha256Of } from "./connection.ts";
import { entryIn, fileSecrets, withEntry } from "./edit-client-file.ts";
import { restoreConfig } from "./restore-config.ts";
import { revokeToken } from "./revoke-token.ts";

/** What the file shall be: these bytes, or not there. */
type Target = { bytes: Buffer; isExact: boolean } | undefined;

export async function undoConnect(context: ConnectContext, client: Client, dataDir: string): Promise<number> {
  const { options, output } = context;
  const connection = readConnection(dataDir, client.id);
  if (connection === undefined) {
    throw new Failure(`there is nothing to undo: ${client.title} was not connected from ${dataDir}`);
  }
  const { file } = connection;
  const before = readWhole(file);
  const target = before === undefined ? undefined : targetOf(connection, before, client);
  if (!options.json) show(context, client, file, before, target);
  if (before !== undefined && !(await consent(context, "Write it?"))) {
    output.line("Nothing was written.");
    return 0;
  }
  if (before !== undefined) put(file, before, target);
  if (target?.isExact === true && connection.original) rmSync(connection.original, { force: true });
  const { moved } = connection;
  const isGivenBack = moved === undefined || restoreConfig(moved);
  forgetConnection(dataDir, client.id);
  if (connection.jti !== undefined) await revokeToken(context, connection.jti);
  const isExact = target === undefined || target.isExact;
  if (options.json)
    output.json({
      client: client.id,
      file,
      changed: before !== undefined,
      exact: isExact,
      restored: isGivenBack,
    });
  else
    output.line(
      `${client.title} is no longer connected${connection.jti === undefined ? "" : "; its token is revoked"}`,
    );
  if (!isGivenBack && !options.json) {
    const names = visible(moved?.names.join(", ") ?? "");
    output.note(
      `mcpx: ${names} stay in ${moved?.config} too, which was changed since; remove them there with ${context.program} remove`,
    );
  }
  return 0;
}

function targetOf({ file, sha256, original, moved }: Connection, before: ReadFile, client: Client): Target {
  const isUntouched = sha256Of(before.bytes) === sha256;
  if (isUntouched && original === null) return undefined;
  const saved = typeof original === "string" ? readWhole(original) : undefined;
  if (isUntouched && saved !== undefined) return { bytes: saved.bytes, isExact: true };
  const earlier = saved === undefined ? undefined : entryIn(saved.text, client, file);
  const rest = withEntry(before.text, isObject(earlier) ? plain(earlier) : undefined, client, file);
  const text = saved === undefined ? rest : withServersOf(rest, saved.text, moved?.names ?? [], client, file);
  return { bytes: Buffer.from(before.bom + text), isExact: false };
}

function put(file: string, before: ReadFile, target: Target): void {
  if (target === undefined) {
    checkUnchanged(file, before);
    rmSync(file);
    return;
  }
  if (!target.isExact) backUp(file, before, new Date());
  replaceFile(file, target.bytes, before.mode, before);
}

function show(
  context: ConnectContext,
  client: Client,
  file: string,
  before: ReadFile | undefined,
  target: Target,
): void {
  const { output } = context;
  const path = shortPath(file, context);
  if (before === undefined) output.line(`${path} is gone already`);
  else if (target === undefined)
    output.line(`${client.title}: this would remove ${path}, which connect made`);
  else {
    const how = target.isExact
      ? `this would make ${path} what it was`
      : `this would remove the entry of mcpx from ${path}, which others changed since`;
    output.line(`${client.title}: ${how}`);
    const after = target.bytes.toString().replace(/^\ufeff/, "");
    const secrets = [before.text, after].flatMap((text) => fileSecrets(text, client, file));
    showDiff(context, before.text, after, secrets);
  }
}

function plain(entry: JsonObject): JsonObject {
  return JSON.parse(JSON.stringify(entry)) as JsonObject;
}
