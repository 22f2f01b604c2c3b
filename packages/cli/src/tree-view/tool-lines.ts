// Tools of the tree as lines for people. Everything in them may come from strangers. Pure.
import {
  believedKey,
  believedOf,
  capabilityKey,
  definitionWarnings,
  isObject,
  type JsonObject,
  looksLike,
  withoutRoot,
} from "@mcpx/protocol";
import { columns, widthLeft } from "../framework/output.ts";
import { cut, visible } from "../framework/visible.ts";
import { jsonLines, shortened } from "../gates/call-text.ts";
import { rootIn } from "./look-at-tree.ts";
import { serversIn } from "./server-state.ts";

export interface ToolRow {
  name: string;
  /** `mcpServers.NAME`, or what the tree calls it. */
  server: string;
  danger: "irreversible" | "mutable" | "none" | "unknown";
  latency: string;
  description: string;
  state: "listed" | "quarantined";
  /** How many texts of its definition hide or imitate something. */
  warnings: number;
}

/** What stands before a name. */
export const marks = { irreversible: "!", mutable: "~", none: " ", unknown: "?" } as const;

const linesMax = 400;
const charsMax = 40_000;

/** What is listed, and what waits to be accepted, in the order of names. */
export function toolRows(tools: readonly JsonObject[], report: JsonObject): ToolRow[] {
  const servers = serversIn(report);
  const root = rootIn(report);
  const listed = tools.map((tool) => toolRow(tool, servers, root));
  const waiting = servers.flatMap(({ name, quarantined }) =>
    (Array.isArray(quarantined) ? quarantined : []).map(
      (canonical): ToolRow => ({
        name: String(canonical),
        server: String(name),
        danger: "unknown",
        latency: "",
        description: "held back: changed or hides text",
        state: "quarantined",
        warnings: 0,
      }),
    ),
  );
  return [...listed, ...waiting].sort((a, b) => (a.name < b.name ? -1 : 1));
}

function toolRow(tool: JsonObject, servers: readonly JsonObject[], root: string | undefined): ToolRow {
  const name = String(tool.name);
  const { capability } = metaOf(tool);
  return {
    name,
    server: String(serverOf(withoutRoot(root, name), servers)?.name ?? ""),
    danger: dangerOf(tool),
    latency: typeof capability.latency_class === "string" ? capability.latency_class : "",
    description: typeof tool.description === "string" ? tool.description : "",
    state: "listed",
    warnings: definitionWarnings(tool).length,
  };
}

/** The one whose segment the name, without the root's, begins with, else the one at the root. */
export function serverOf(name: string, servers: readonly JsonObject[]): JsonObject | undefined {
  const first = name.split(".")[0];
  const isInside = name.includes(".");
  return (
    (isInside ? servers.find(({ segment }) => segment === first) : undefined) ??
    servers.find(({ segment }) => segment === null)
  );
}

function metaOf(tool: JsonObject): { meta: JsonObject; capability: JsonObject } {
  const meta = isObject(tool._meta) ? tool._meta : {};
  return { meta, capability: believedOf(tool) };
}

function dangerOf(tool: JsonObject): ToolRow["danger"] {
  const { meta, capability } = metaOf(tool);
  if (meta["x-mcpax-safety"] === "irreversible_mutable") return "irreversible";
  return capability.mutable === false ? "none" : "mutable";
}

export function listLines(rows: readonly ToolRow[], width: number): string[] {
  const cells = rows.map(({ name, server, danger, latency, description, warnings }) => {
    const mark = warnings === 0 ? "" : "⚠ hides or imitates something; ";
    const about = `${mark}${description.split("\n")[0] ?? ""}`;
    return [marks[danger], name, latency, server, about].map(visible);
  });
  const cellWidth = widthLeft(4, cells, width);
  return columns(cells.map((row) => row.map((cell, column) => (column === 4 ? cut(cell, cellWidth) : cell))));
}

const dangers = {
  irreversible: "changes things; cannot be undone",
  mutable: "changes things; can be undone",
  none: "only reads",
  unknown: "unknown",
} as const;

const doubt = "(not believed here; see --trusted of mcpx add)";

/** It says that it is more harmless than it is taken to be. */
function isDoubted(tool: JsonObject): boolean {
  const { mutable, reversible } = metaOf(tool).capability;
  const { readOnlyHint, destructiveHint } = isObject(tool.annotations) ? tool.annotations : {};
  if (mutable === false) return false;
  return readOnlyHint === true || (destructiveHint === false && reversible !== true);
}

/** What its definition hides, and which other tool its name could be taken for. */
export function warningsOf(tool: JsonObject, others: readonly JsonObject[]): string[] {
  const like = looksLike(
    String(tool.name),
    others.map(({ name }) => String(name)),
  );
  return [...definitionWarnings(tool), ...(like === undefined ? [] : [`name looks like ${like}`])];
}

/** One tool in full; `others` are those its name must not be taken for. */
export function showLines(
  tool: JsonObject,
  server: JsonObject | undefined,
  others: readonly JsonObject[] = [],
): string[] {
  const { meta, capability } = metaOf(tool);
  const info = isObject(server?.server) ? server.server : {};
  const facts = columns(
    [
      ["from", [server?.name, info.name && `(${info.name} ${info.version ?? ""})`].filter(Boolean).join(" ")],
      ["trees", String(meta["x-mcpax-hops"] ?? 1)],
      ["danger", dangers[dangerOf(tool)]],
      ["latency", String(capability.latency_class ?? "")],
    ].map((row) => row.map(visible)),
  );
  const lines = [
    visible([tool.name, tool.title].filter((text) => typeof text === "string").join("  ")),
    ...facts.map((line) => `  ${line}`),
    ...warningsOf(tool, others).map((warning) => `  ⚠ ${visible(warning)}`),
    ...textBlock("description", tool.description),
    ...jsonBlock("arguments", tool.inputSchema),
    ...jsonBlock("result", tool.outputSchema),
    ...jsonBlock(isDoubted(tool) ? `hints ${doubt}` : "hints", tool.annotations),
    ...jsonBlock("annotation", meta[capabilityKey]),
    ...jsonBlock("believed here", meta[believedKey]),
  ];
  return shortened(lines, linesMax, charsMax);
}

function textBlock(title: string, text: unknown): string[] {
  if (typeof text !== "string" || text === "") return [];
  return [title, ...text.split(/\r\n|\n/).map((line) => `  ${visible(line)}`)];
}

function jsonBlock(title: string, value: unknown): string[] {
  return value === undefined ? [] : [title, ...jsonLines(value).map((line) => `  ${line}`)];
}
