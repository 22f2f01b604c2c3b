// What `mcpx trust` does: shows, asks, and remembers the text that was shown.
import { statSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import type { TrustContext } from "../commands/gateway/trust.ts";
import {
  type AcceptedFile,
  acceptedFile,
  acceptedFiles,
  acceptFile,
  forgetFile,
  placeOf,
  sha256Of,
} from "../config/accepted-files.ts";
import { parseConfig } from "../config/config.ts";
import { dataDirOf } from "../files/data-dir.ts";
import { readWhole } from "../files/replace-file.ts";
import { Failure, misuse } from "../framework/failure.ts";
import { columns } from "../framework/output.ts";
import { consent, shortPath } from "../framework/show-change.ts";
import { visible } from "../framework/visible.ts";
import { type OfferedFile, showOffered, strangersIn } from "./show-effects.ts";
import { effectsOf } from "./what-it-does.ts";

export async function runTrust(context: TrustContext): Promise<number> {
  const { options } = context;
  const dataDir = dataDirOf(context, options);
  const ways = [options.yes, options.list, options.remove].filter(Boolean).length;
  if (ways > 1) throw misuse("--yes, --list and --remove cannot be combined", "use only one of them");
  if (options.list) return list(context, dataDir);
  const path = fileOf(context);
  return options.remove ? remove(context, dataDir, path) : accept(context, dataDir, path);
}

/** A directory stands for the `mcpx.json` in it. */
function fileOf({ cwd, words }: TrustContext): string {
  const given = resolve(cwd, words[0] ?? ".");
  const isDir = statSync(given, { throwIfNoEntry: false })?.isDirectory() === true;
  return placeOf(isDir ? join(given, "mcpx.json") : given);
}

async function accept(context: TrustContext, dataDir: string, path: string): Promise<number> {
  const { options, output } = context;
  const file = readWhole(path);
  if (file === undefined) throw new Failure(`there is no ${path}`, "name the configuration to accept");
  const offered = { path, text: `${file.bom}${file.text}`, accepted: acceptedFile(dataDir, path) };
  if (offered.accepted?.text === offered.text) {
    if (options.json) output.json(reportOf(offered, true));
    else output.line(`${visible(shortPath(path, context))} is accepted already, as it is`);
    return 0;
  }
  if (options.json) parseConfig(offered.text, path);
  else showOffered(context, offered);
  const isAccepted = options.yes || (!options.json && (await consent(context, "Accept it?")));
  if (isAccepted) acceptFile(dataDir, path, offered.text, new Date());
  if (options.json) output.json(reportOf(offered, isAccepted));
  else output.line(isAccepted ? "accepted" : "Nothing was accepted.");
  return isAccepted ? 0 : 1;
}

function reportOf({ path, text }: OfferedFile, isAccepted: boolean) {
  return {
    file: path,
    sha256: sha256Of(text),
    accepted: isAccepted,
    ...effectsOf(parseConfig(text, path), dirname(path)),
    strangers: strangersIn(path),
  };
}

function remove({ options, output }: TrustContext, dataDir: string, path: string): number {
  if (!forgetFile(dataDir, path)) throw new Failure(`${path} was not accepted`, "see mcpx trust --list");
  if (options.json) output.json({ file: path, removed: true });
  else output.line(`${visible(path)} is no longer used, until it is accepted again`);
  return 0;
}

function list(context: TrustContext, dataDir: string): number {
  const { options, output } = context;
  const rows = acceptedFiles(dataDir).map((one) => ({ ...one, state: stateOf(one) }));
  if (options.json) {
    output.json({
      files: rows.map(({ path, sha256, acceptedAt, state }) => ({ file: path, sha256, acceptedAt, state })),
    });
    return 0;
  }
  if (rows.length === 0) output.note("nothing was accepted");
  const lines = rows.map(({ path, acceptedAt, state }) => [
    visible(shortPath(path, context)),
    acceptedAt,
    state,
  ]);
  for (const line of columns(lines)) output.line(line);
  return 0;
}

function stateOf({ path, text }: AcceptedFile): "accepted" | "changed since" | "gone" | "unreadable" {
  try {
    const file = readWhole(path);
    if (file === undefined) return "gone";
    return `${file.bom}${file.text}` === text ? "accepted" : "changed since";
  } catch (error) {
    if (error instanceof Failure) return "unreadable";
    throw error;
  }
}
