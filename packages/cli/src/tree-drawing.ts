// The tree as lines for a terminal. Pure.
import { isObject, type JsonObject } from "@mcpx/protocol";
import type { Output } from "./output.ts";
import { countsText, serversIn, stateOf } from "./server-state.ts";
import { visible } from "./visible.ts";

export interface TreePicture {
  url: string;
  /** What `mcpax.status` says. */
  report: JsonObject;
  tools: readonly JsonObject[];
  /** Every tool too. */
  isFull: boolean;
}

const marks = {
  up: ["green", "●"],
  starting: ["cyan", "◌"],
  idle: ["dim", "○"],
  ailing: ["yellow", "◐"],
  down: ["red", "✗"],
} as const;

/** Of one server, that are named. */
const pidsMax = 4;

export function drawTree(
  { url, report, tools, isFull }: TreePicture,
  { paint }: Pick<Output, "paint">,
): string[] {
  const servers = serversIn(report);
  const counts = countsText(servers);
  const lines = [`${paint("bold", "mcpx")} ${visible(url)}${counts && `  ${paint("dim", counts)}`}`];
  servers.forEach((server, i) => {
    const isLast = i === servers.length - 1;
    const stem = isLast ? "   " : "│  ";
    lines.push(`${isLast ? "└─" : "├─"} ${headline(server, paint)}`);
    for (const line of details(server)) lines.push(`${stem}   ${paint("dim", line)}`);
    if (isFull) for (const line of toolLines(server, tools, paint)) lines.push(`${stem}   ${line}`);
  });
  return lines;
}

function headline(server: JsonObject, paint: Output["paint"]): string {
  const state = stateOf(server);
  const [style, mark] = marks[state] ?? ["dim", "?"];
  const place = server.segment === null ? "(root)" : visible(String(server.segment));
  const count = Number(server.tools);
  const parts = [
    `${count} tool${count === 1 ? "" : "s"}`,
    server.era === null ? undefined : String(server.era),
    usage(server),
  ];
  const facts = parts.filter((part) => part !== undefined).join(", ");
  return `${paint(style, mark)} ${place}  ${paint("dim", state === "up" ? facts : `${state}, ${facts}`)}`;
}

/** Its processes, and what they use where that is known. */
function usage({ processes }: JsonObject): string | undefined {
  const children = Array.isArray(processes) ? processes.filter(isObject) : [];
  const [first] = children;
  if (first === undefined) return undefined;
  const pids = children.map(({ pid }) => Number(pid)).join(" ");
  const isFew = children.length <= pidsMax;
  const who = children.length === 1 ? `pid ${pids}` : isFew ? `pids ${pids}` : `${children.length} processes`;
  if (children.some(({ memory_bytes }) => typeof memory_bytes !== "number")) return who;
  const sum = (key: string) => children.reduce((all, child) => all + Number(child[key]), 0);
  const megabytes = Math.round(sum("memory_bytes") / 1_048_576);
  return `${who}, ${megabytes} MB, ${(sum("cpu_ms") / 1_000).toFixed(1)} s CPU`;
}

function details(server: JsonObject): string[] {
  const lines: string[] = [];
  if (typeof server.fault === "string") lines.push(visible(server.fault));
  else if (typeof server.last_loss === "string") {
    const at = String(server.last_loss_at).slice(0, 19).replace("T", " ");
    lines.push(visible(`ended at ${at}: ${server.last_loss}`));
  }
  if (isObject(server.list_faults)) {
    for (const [kind, fault] of Object.entries(server.list_faults)) lines.push(visible(`${kind}: ${fault}`));
  }
  if (Array.isArray(server.left_out))
    lines.push(...server.left_out.map((one) => visible(`left out: ${one}`)));
  if (Array.isArray(server.quarantined))
    lines.push(
      ...server.quarantined.map((one) => visible(`has changed: ${one}; see mcpx tools diff ${one}`)),
    );
  if (Array.isArray(server.override_faults))
    lines.push(...server.override_faults.map((one) => visible(`set in vain: ${one}`)));
  return lines;
}

function toolLines(server: JsonObject, tools: readonly JsonObject[], paint: Output["paint"]): string[] {
  const prefix = `${server.segment}.`;
  const own = tools.filter(({ name }) => String(name).startsWith(prefix));
  return own.map((tool) => {
    const meta = isObject(tool._meta) ? tool._meta : {};
    const danger = meta["x-mcpax-safety"] === "irreversible_mutable" ? paint("yellow", " !") : "";
    const [about = ""] = String(tool.description ?? "").split("\n");
    const short = about.length > 60 ? `${about.slice(0, 59)}…` : about;
    return `${visible(String(tool.name).slice(prefix.length))}${danger}  ${paint("dim", visible(short))}`;
  });
}
