// The tree as lines for a terminal. Pure.
import { isObject, type JsonObject, withoutRoot } from "@mcpx/protocol";
import type { Output } from "../framework/output.ts";
import { cut, visible } from "../framework/visible.ts";
import { rootIn } from "./look-at-tree.ts";
import { countsText, type ServerState, serversIn, stateOf } from "./server-state.ts";
import {
  allTools,
  areDegraded,
  type Branch,
  type BranchTool,
  branchAt,
  isServer,
  latencyText,
  servedTools,
} from "./tree-branches.ts";
import {
  budgetText,
  countText,
  heardText,
  latencyFigure,
  registrationText,
  troubles,
  usageText,
  usersText,
} from "./tree-facts.ts";

export interface TreePicture {
  url: string;
  /** What `mcpax.status` says. */
  report: JsonObject;
  tools: readonly JsonObject[];
  /** Every tool too. */
  isFull: boolean;
}

type Paint = Output["paint"];

/** A server or a branch, ready to be drawn. */
interface Node {
  state: ServerState;
  place: string;
  /** The last ones are left out where the line would be too long. */
  facts: readonly (string | undefined)[];
  /** Painted. */
  lines: readonly string[];
  tools: readonly BranchTool[];
  below: readonly Node[];
}

const marks = {
  up: ["green", "●"],
  starting: ["cyan", "◌"],
  idle: ["dim", "○"],
  ailing: ["yellow", "◐"],
  degraded: ["yellow", "◐"],
  "needs sign-in": ["yellow", "◇"],
  "needs authorisation": ["yellow", "◇"],
  down: ["red", "✗"],
} as const;

const widthMax = 100;
const descriptionCharsMax = 60;

export function drawTree(
  { url, report, tools: listed, isFull }: TreePicture,
  { paint }: Pick<Output, "paint">,
) {
  const servers = serversIn(report);
  const root = rootIn(report);
  // The root's segment is said once, at the top.
  const tools = listed.map((tool) => ({ ...tool, name: withoutRoot(root, String(tool.name)) }));
  const counts = countsText(servers);
  const segments = new Set(servers.map(({ segment }) => String(segment)));
  const nodes = servers.map((server) => serverNode(server, toolsOf(server, tools, segments), isFull, paint));
  return [
    `${paint("bold", visible(root ?? "mcpx"))} ${visible(url)}${counts && `  ${paint("dim", counts)}`}`,
    ...parentLines(report, paint),
    ...drawAll(nodes, "", paint),
  ];
}

/** The trees above this one. */
function parentLines({ parents }: JsonObject, paint: Paint): string[] {
  const all = Array.isArray(parents) ? parents.filter(isObject) : [];
  return all.map(({ url, segment, state }) => {
    const style = state === "registered" ? "green" : "yellow";
    return `${paint(style, "↑")} ${visible(String(segment))} of ${visible(String(url))}  ${paint("dim", visible(String(state)))}`;
  });
}

/** A server's tools; those of a server at the root have no segment. */
function toolsOf(
  { segment }: JsonObject,
  tools: readonly JsonObject[],
  segments: ReadonlySet<string>,
): Branch {
  if (segment !== null) return branchAt(String(segment), tools);
  const own = tools.filter(({ name }) => !segments.has(String(name).split(".")[0] ?? ""));
  return { segment: "(root)", tools: own.map((item) => ({ name: String(item.name), item })), branches: [] };
}

/** What was set is marked: another tree would find it out. */
function eraText({ era, era_set }: JsonObject): string | undefined {
  if (era === null || era === undefined) return undefined;
  if (era_set !== undefined) return `${era} as set`;
  return era === "both" ? "both eras" : String(era);
}

function serverNode(server: JsonObject, branch: Branch, isFull: boolean, paint: Paint): Node {
  const served = servedTools(branch);
  const isTree = server.aggregator === true || branch.branches.length > 0;
  const isRegistered = server.registered === true;
  const budget = budgetText(server);
  return {
    state: stateOf(server),
    place: visible(branch.segment),
    facts: [
      server.name === "mcpax" ? "built in" : undefined,
      countText(isTree ? served.length : Number(server.tools)),
      eraText(server),
      registrationText(server),
      isRegistered || isTree ? latencyText(served) : undefined,
      server.name === "mcpax" ? undefined : latencyFigure(server),
      usageText(server),
      heardText(server),
      usersText(server),
    ],
    lines: [
      ...troubles(server).map((line) => paint("dim", line)),
      ...(budget === undefined ? [] : [paint(budget.isSpent ? "yellow" : "dim", budget.text)]),
    ],
    tools: isFull ? branch.tools : [],
    below: belowOf(branch, isFull),
  };
}

function branchNode(branch: Branch, isFull: boolean): Node {
  const served = servedTools(branch);
  return {
    state: areDegraded(allTools(branch)) ? "degraded" : "up",
    place: visible(branch.segment),
    facts: [countText(served.length), latencyText(served)],
    lines: [],
    tools: isFull ? branch.tools : [],
    below: belowOf(branch, isFull),
  };
}

/** A tree's own tools are seen with the others' only. */
function belowOf({ branches }: Branch, isFull: boolean): Node[] {
  return branches.filter((one) => isFull || isServer(one)).map((one) => branchNode(one, isFull));
}

function drawAll(nodes: readonly Node[], stem: string, paint: Paint): string[] {
  return nodes.flatMap((node, index) => {
    const isLast = index === nodes.length - 1;
    const inner = `${stem}${isLast ? "   " : "│  "}`;
    const aside = `${inner}${node.below.length > 0 ? "│  " : "   "}`;
    return [
      headline(`${stem}${isLast ? "└─" : "├─"} `, node, paint),
      ...node.lines.map((line) => `${aside}${line}`),
      ...node.tools.map((tool) => `${aside}${toolLine(tool, paint)}`),
      ...drawAll(node.below, inner, paint),
    ];
  });
}

function headline(stem: string, { state, place, facts }: Node, paint: Paint): string {
  const [style, mark] = marks[state] ?? ["dim", "?"];
  const said = [state === "up" ? undefined : state, ...facts].filter((fact) => fact !== undefined);
  const widthLeft = widthMax - `${stem}${mark} ${place}  `.length;
  while (said.length > 1 && said.join(", ").length > widthLeft) said.pop();
  return `${stem}${paint(style, mark)} ${place}  ${paint("dim", said.join(", "))}`;
}

function toolLine({ name, item }: BranchTool, paint: Paint): string {
  const meta = isObject(item._meta) ? item._meta : {};
  const danger = meta["x-mcpax-safety"] === "irreversible_mutable" ? paint("yellow", " !") : "";
  const [about = ""] = String(item.description ?? "").split("\n");
  return `${visible(name)}${danger}  ${paint("dim", visible(cut(about, descriptionCharsMax)))}`;
}
