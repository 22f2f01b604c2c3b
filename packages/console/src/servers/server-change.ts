// A change of the configuration as the page asks for it: shown by the gateway first, made when a person has said yes.
import { isObject, type JsonObject } from "@mcpx/protocol";
import type { Api } from "../store/api.ts";

interface Start {
  name: string;
  words: string[];
  url: string | null;
  cwd: string | null;
  env: string[];
  headers: string[];
  isOff: boolean;
  isTrusted: boolean;
  unannotated: string | null;
}

export interface Preview {
  file: string;
  isNew: boolean;
  isDemo: boolean;
  lines: { sign: string; text: string }[];
  linesLeftOut: number;
  starts: Start[];
  leaving: string[];
  /** What is configured for a tool, where the change is about one. */
  tool?: { isOn: boolean; name: string | null; fixed: string[] };
  digest: string;
}

export async function previewChange(api: Pick<Api, "call">, change: JsonObject): Promise<Preview> {
  return (await api.call("POST", "/servers/preview", { change })) as unknown as Preview;
}

/** What has happened, in a sentence. */
export async function makeChange(
  api: Pick<Api, "call">,
  change: JsonObject,
  { digest }: Preview,
): Promise<string> {
  const { file, backup, isClosed } = await api.call("POST", "/servers/change", { change, digest });
  const before =
    backup === null ? "" : ` The file as it was is beside it: ${String(backup).split(/[\\/]/).at(-1)}.`;
  const closed = isClosed === true ? " It holds secrets, so only its owner may read it now." : "";
  return `${String(file)} was written.${before}${closed}`;
}

/** Makes it, or where it would be another change meanwhile gives back that one, to be looked at. */
export async function makeOrLookAgain(
  api: Pick<Api, "call">,
  change: JsonObject,
  preview: Preview,
): Promise<{ said: string } | { changed: Preview }> {
  try {
    return { said: await makeChange(api, change, preview) };
  } catch (refusal) {
    const changed = await previewChange(api, change).catch(() => preview);
    if (changed.digest === preview.digest) throw refusal;
    return { changed };
  }
}

/** One to a line; empty lines are none. */
export function linesOf(text: string): string[] {
  return text.split("\n").filter((line) => line !== "");
}

export interface Pair {
  name: string;
  value: string;
}

/** `KEY=value`, `Name: value`; pairs without a name are not there. */
export function pairTexts(pairs: readonly Pair[], between: "=" | ": "): string[] {
  return pairs
    .filter(({ name }) => name.trim() !== "")
    .map(({ name, value }) => `${name.trim()}${between}${value}`);
}

interface Trouble {
  text: string;
  /** To be opened by a person. */
  address?: string;
  fix?: string;
}

/** What is wrong with a server, and the command that mends it. */
export function troublesOf(server: JsonObject): Trouble[] {
  const name = String(server.name);
  const troubles: Trouble[] = [];
  const { authorise_url: address } = server;
  if (typeof address === "string") troubles.push({ text: "Needs authorisation: open", ...pageAt(address) });
  else if (typeof server.fault === "string")
    troubles.push({ text: server.fault, fix: fixFor(name, server.fault) });
  else if (typeof server.last_loss === "string") troubles.push({ text: `It ended: ${server.last_loss}` });
  if (isObject(server.list_faults) && typeof server.fault !== "string" && typeof address !== "string") {
    for (const [kind, why] of Object.entries(server.list_faults)) {
      troubles.push({ text: `${kind}: ${String(why)}`, fix: "mcpx doctor" });
    }
  }
  for (const one of Array.isArray(server.left_out) ? server.left_out : []) {
    troubles.push({ text: `Left out: ${String(one)}` });
  }
  return troubles;
}

/** Nothing but a page is opened, whatever the server says. */
function pageAt(address: string): Pick<Trouble, "address"> {
  return /^https?:\/\//.test(address) ? { address } : {};
}

function fixFor(server: string, fault: string): string {
  const name = shellWord(server);
  if (/ENOENT|EACCES|not found|not there/.test(fault))
    return `mcpx add ${name} --replace -- FULL/PATH/OF/COMMAND`;
  if (/ECONNREFUSED|ENOTFOUND|ETIMEDOUT/.test(fault)) return `mcpx add ${name} --replace URL`;
  if (/authoris|401/.test(fault)) return `mcpx add ${name} --replace URL --header 'Authorization: Bearer …'`;
  return "mcpx doctor";
}

/** Ready to be pasted. */
function shellWord(text: string): string {
  return /^[A-Za-z0-9._~/+@:=,-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
