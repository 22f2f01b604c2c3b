// What `mcpx import` does: looks, shows, asks, writes.
import { segmentFor } from "@mcpx/aggregator";
import { runningPlace } from "../access/running-gateway.ts";
import type { ImportContext } from "../commands/tree/import.ts";
import { askTrust } from "../config-edit/ask-trust.ts";
import { demoNotes } from "../config-edit/demo-notes.ts";
import {
  type ConfigFile,
  openConfig,
  rootSegmentOf,
  type SavedConfig,
  type ServerEntry,
  saveConfig,
  segmentsOf,
  type Unannotated,
  withServers,
} from "../config-edit/edit-config.ts";
import { Failure } from "../framework/failure.ts";
import { secretsOf } from "../framework/secrets.ts";
import { ask, shellWord, shortPath } from "../framework/show-change.ts";
import { visible } from "../framework/visible.ts";
import type { ClientWorld } from "./client.ts";
import { clientsOf } from "./clients.ts";
import { type Findings, type FoundServer, findServers } from "./find-servers.ts";
import { importNotes, importTable, leftLines, reachText, secretNames, transportOf } from "./import-table.ts";
import { type ImportPlan, type PlannedServer, planImport, readChoice } from "./plan-import.ts";

interface Choice {
  chosen: readonly PlannedServer[];
  /** Of their tools that do not say how dangerous they are. */
  fate: Unannotated;
}

export async function runImport(
  context: ImportContext,
  world: ClientWorld,
  given: Unannotated | undefined,
): Promise<number> {
  const { options, output } = context;
  const clients = clientsOf(context.words);
  const file = openConfig(context);
  const findings = findServers(clients, world);
  const plan = planImport(findings.servers, presentIn(file));
  if (!options.json) showPlan(context, findings, plan);
  const chosen = await choose(context, plan.planned);
  const usual = file.config.gates?.unannotated ?? "ask";
  const trusted = await chooseTrusted(context, chosen);
  const text = chosen.length === 0 ? undefined : withServers(file, entriesOf(chosen, given, trusted));
  const saved = text === undefined ? undefined : saveConfig(file, text, new Date());
  const written = saved && { file: file.path, ...saved };
  if (options.json) output.json(report(findings, plan, { chosen, fate: given ?? usual, written }));
  else if (saved !== undefined) showWritten(context, file, saved, { chosen, fate: given ?? usual, trusted });
  return findings.servers.length === 0 && findings.faults.length > 0 ? 1 : 0;
}

export function presentIn({ config }: ConfigFile) {
  const segments = [...segmentsOf(config)].map(([name, segment]) => [segment, name] as const);
  const root = rootSegmentOf(config);
  if (root !== undefined) segments.push([root, "this tree itself"]);
  return {
    servers: new Map(Object.entries(config.mcpServers ?? {}) as unknown as [string, ServerEntry][]),
    segments: new Map(segments),
    segmentFor,
  };
}

function showPlan(context: ImportContext, { faults, looked }: Findings, { planned, left }: ImportPlan): void {
  const { output } = context;
  for (const fault of faults) output.note(`mcpx: ${visible(fault)}`);
  const there = looked.filter(({ isThere }) => isThere).length;
  const files = `${there} file${there === 1 ? "" : "s"}`;
  if (planned.length === 0 && left.length > 0) {
    output.line(`found no server that is not here already in ${files}`);
  } else if (planned.length === 0) {
    output.line(
      `found no server in ${files}; add one with ${context.program} add NAME -- COMMAND. Looked for`,
    );
    for (const { path, isThere, isBroken } of looked) {
      const mark = isBroken ? "✗" : isThere ? "✓" : " ";
      output.line(output.paint("dim", `  ${mark} ${visible(shortPath(path, context))}`));
    }
  } else {
    output.line(`found ${planned.length} server${planned.length === 1 ? "" : "s"} in ${files}`);
    output.line();
    importTable(planned).forEach((line, index) => {
      output.line(index === 0 ? output.paint("dim", line) : line);
    });
  }
  const notes = importNotes(planned, output.width);
  if (notes.length > 0) output.line();
  for (const line of notes) output.line(output.paint("yellow", line));
  if (left.length > 0) output.line(`\nleft out`);
  for (const line of leftLines(left, output.width)) output.line(output.paint("dim", line));
  if (planned.length > 0) output.line();
}

const guessesMax = 3;

/** Asks again after an answer that is no choice; `undefined` where nobody can be asked. */
async function askNumbers(context: ImportContext, count: number): Promise<readonly number[] | undefined> {
  let question = "Import which? Numbers such as 1 3-5, all, or Enter for none";
  for (let guesses = 1; ; guesses += 1) {
    const answer = await ask(context, question);
    const numbers = answer === undefined ? undefined : readChoice(answer, count);
    if (answer === undefined || numbers !== undefined) return numbers;
    const fault = `${JSON.stringify(answer)} is not a choice`;
    if (guesses === guessesMax)
      throw new Failure(`${fault}, so nothing was written`, "write numbers of the table");
    question = `${visible(fault)}. Write numbers from 1 to ${count}, all, or Enter for none`;
  }
}

async function choose(context: ImportContext, planned: readonly PlannedServer[]): Promise<PlannedServer[]> {
  const { options, output } = context;
  if (planned.length === 0) return [];
  if (options.yes) return takenUnasked(context, planned);
  const numbers = options.json ? undefined : await askNumbers(context, planned.length);
  if (numbers === undefined) {
    const here = planned.some(({ found }) => found.isFromHere)
      ? ", --project those of this directory too"
      : "";
    if (!options.json) output.line(`Nothing was written; --yes writes all of them${here}.`);
    return [];
  }
  if (numbers.length === 0) output.line("Nothing was written.");
  return planned.filter((_, index) => numbers.includes(index));
}

/** What lies in the working directory may be anybody's, so that nobody's yes to all means it too. */
function takenUnasked(
  { options, output }: ImportContext,
  planned: readonly PlannedServer[],
): PlannedServer[] {
  const taken = planned.filter(({ found }) => options.project || !found.isFromHere);
  if (taken.length < planned.length && !options.json) {
    const left = planned.filter((one) => !taken.includes(one)).map(({ name }) => visible(name));
    output.note(`mcpx: left out, as their files lie in the working directory: ${left.join(", ")}`);
    output.note("mcpx: look at what they start, then add --project to import them too");
  }
  return taken;
}

/** Asked for each of them at a terminal; nobody is trusted unasked. */
async function chooseTrusted(
  context: ImportContext,
  chosen: readonly PlannedServer[],
): Promise<ReadonlySet<string>> {
  const { options } = context;
  const trusted = new Set<string>();
  if (options.yes || options.json) return trusted;
  for (const { name } of chosen) if (await askTrust(context, name)) trusted.add(name);
  return trusted;
}

export function entriesOf(
  chosen: readonly PlannedServer[],
  unannotated: Unannotated | undefined,
  trusted: ReadonlySet<string> = new Set(),
): Map<string, ServerEntry> {
  const more = unannotated === undefined ? {} : { unannotated };
  return new Map(
    chosen.map(({ name, found }) => [
      name,
      { ...found.entry, ...(trusted.has(name) && { trusted: true }), ...more },
    ]),
  );
}

function showWritten(
  context: ImportContext,
  file: ConfigFile,
  { backup, isClosed }: SavedConfig,
  { chosen, fate, trusted }: Choice & { trusted: ReadonlySet<string> },
): void {
  const { output, program } = context;
  output.line(
    `wrote ${chosen.length} server${chosen.length === 1 ? "" : "s"} to ${shortPath(file.path, context)}`,
  );
  const believed = chosen.filter(({ name }) => trusted.has(name)).map(({ name }) => visible(name));
  output.line(`trusted: ${believed.length === 0 ? "none" : believed.join(", ")}`);
  const becomes = fate === "ask" ? "wait for an approval" : "need no approval";
  output.line(`tools without a trusted annotation ${becomes}`);
  if (chosen.some(({ found }) => secretsOf(found.entry).length > 0)) {
    const now = isClosed ? "now only you may read it" : "only you may read it";
    output.note(
      `mcpx: secrets are in that file as they were: ${now} (mode 0600); keep it out of version control`,
    );
  }
  const undo =
    backup === undefined ? `rm ${shellWord(file.path)}` : `mv ${shellWord(backup)} ${shellWord(file.path)}`;
  output.note(`undo: ${undo}`);
  for (const line of demoNotes(file)) output.note(line);
  const isUp = runningPlace(file.dataDir) !== undefined;
  output.note(isUp ? `watch them come up: ${program} tree` : `start them: ${program} up`);
}

export function report(
  { faults }: Findings,
  { planned, left }: ImportPlan,
  { chosen, fate, written }: Choice & { written: ({ file: string } & SavedConfig) | undefined },
) {
  return {
    servers: planned.map((server) => ({
      ...serverReport(server.found),
      name: server.name,
      also: server.also.map(({ client, file, name }) => ({ client, file, name })),
      takenBy: server.takenBy ?? null,
      written: chosen.includes(server),
    })),
    left: left.map(({ found, why }) => ({ ...serverReport(found), why })),
    faults,
    unannotated: fate,
    file: written?.file ?? null,
    backup: written?.backup ?? null,
  };
}

function serverReport(found: FoundServer) {
  const { name, client, file, project, needs, untaken, entry } = found;
  return {
    name,
    originalName: name,
    client,
    file,
    project: project ?? null,
    isFromHere: found.isFromHere,
    transport: transportOf(found),
    reach: reachText(found),
    variables: secretNames(found),
    disabled: entry.disabled === true,
    needs,
    untaken,
  };
}
