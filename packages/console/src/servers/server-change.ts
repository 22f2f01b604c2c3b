// Servers as the page writes and shows them. Pure.
import { isObject, type JsonObject } from "@mcpx/protocol";

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
  const { authorise_url: address, sign_in_url: own } = server;
  if (typeof own === "string")
    troubles.push({ text: "Sign in with an account of yours: open", ...pageAt(own) });
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
