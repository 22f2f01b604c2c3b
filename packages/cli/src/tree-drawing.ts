// The tree as lines for a terminal. Pure.
import { isObject, type JsonObject } from "@mcpx/protocol";
import type { Output } from "./output.ts";
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
  idle: ["dim", "○"],
  ailing: ["yellow", "◐"],
  down: ["red", "✗"],
} as const;

export function drawTree(
  { url, report, tools, isFull }: TreePicture,
  { paint }: Pick<Output, "paint">,
): string[] {
  const servers = Array.isArray(report.servers) ? report.servers.filter(isObject) : [];
  const lines = [`${paint("bold", "mcpx")} ${visible(url)}`];
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
  const state = String(server.state) as keyof typeof marks;
  const [style, mark] = marks[state] ?? ["dim", "?"];
  const place = server.segment === null ? "(root)" : visible(String(server.segment));
  const count = Number(server.tools);
  const parts = [
    `${count} tool${count === 1 ? "" : "s"}`,
    server.era === null ? undefined : String(server.era),
  ];
  const facts = parts.filter((part) => part !== undefined).join(", ");
  return `${paint(style, mark)} ${place}  ${paint("dim", state === "up" ? facts : `${state}, ${facts}`)}`;
}

function details(server: JsonObject): string[] {
  const lines: string[] = [];
  if (typeof server.fault === "string") lines.push(visible(server.fault));
  if (isObject(server.list_faults)) {
    for (const [kind, fault] of Object.entries(server.list_faults)) lines.push(visible(`${kind}: ${fault}`));
  }
  if (Array.isArray(server.left_out))
    lines.push(...server.left_out.map((one) => visible(`left out: ${one}`)));
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
