// What `mcpx doctor` does: one check after the other, each finding told at once with what mends it.
import type { ClientWorld } from "../client-configs/client.ts";
import type { DoctorCommandContext } from "../commands/gateway/doctor.ts";
import type { Output } from "../framework/output.ts";
import { visible } from "../framework/visible.ts";
import { approverChain } from "./approver-chain.ts";
import { approverKeys } from "./approver-keys.ts";
import { bridges } from "./bridges.ts";
import { clients } from "./clients.ts";
import { configuration } from "./configuration.ts";
import { dataDirectory } from "./data-directory.ts";
import { type Check, type Finding, fault, plural, type State } from "./finding.ts";
import { gateway } from "./gateway.ts";
import { levels } from "./levels.ts";
import { nameLength } from "./name-length.ts";
import { nodeVersion } from "./node-version.ts";
import { servers } from "./servers.ts";
import { setUp } from "./set-up.ts";
import { signingKey } from "./signing-key.ts";
import { store } from "./store.ts";
import { tls } from "./tls.ts";
import { toolCount } from "./tool-count.ts";
import { toolSchemas } from "./tool-schemas.ts";
import { type DoctorWorld, lookAround } from "./world.ts";

const checks: readonly Check[] = [
  nodeVersion,
  dataDirectory,
  configuration,
  tls,
  store,
  signingKey,
  approverKeys,
  approverChain,
  setUp,
  levels,
  gateway,
  servers,
  toolCount,
  nameLength,
  toolSchemas,
  bridges,
  clients,
];

export async function runDoctor(context: DoctorCommandContext, clientWorld: ClientWorld): Promise<number> {
  const { options, output, hint } = context;
  const world = lookAround(context, clientWorld);
  const found: Finding[] = [];
  for (const check of checks) {
    if (check.doing !== undefined && output.isErrorTerminal && !options.json)
      output.note(output.paint("dim", `… ${check.doing}`));
    const findings = (await examine(check, world)).map((finding) => ({
      ...finding,
      text: hint(finding.text),
      fix: finding.fix === undefined ? undefined : hint(finding.fix),
    }));
    found.push(...findings);
    if (!options.json) for (const finding of findings) show(finding, output);
  }
  const faults = countOf(found, "fault");
  if (options.json) output.json({ ok: faults === 0, findings: found });
  else output.line(summary(faults, countOf(found, "warning")));
  return faults === 0 ? 0 : 1;
}

/** A check that fails is a finding: the others go on. */
async function examine(check: Check, world: DoctorWorld): Promise<Finding[]> {
  try {
    return await check.run(world);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    return [fault(check.name, `it could not be checked: ${why}`)];
  }
}

const marks = {
  ok: ["green", "ok     "],
  warning: ["yellow", "warning"],
  fault: ["red", "FAULT  "],
} as const satisfies Record<State, unknown>;

function show({ about, state, text, fix }: Finding, output: Output): void {
  const [style, mark] = marks[state];
  output.line(`${output.paint(style, mark)}  ${visible(`${about}: ${text}`)}`);
  if (fix !== undefined && state !== "ok") output.line(`         ${output.paint("cyan", visible(fix))}`);
}

function countOf(findings: readonly Finding[], state: State): number {
  return findings.filter((finding) => finding.state === state).length;
}

function summary(faults: number, warnings: number): string {
  if (faults + warnings === 0) return "All is well.";
  return `${plural(faults, "fault")}, ${plural(warnings, "warning")}`;
}
