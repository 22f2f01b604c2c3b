// A configuration before somebody accepts it, on a terminal.
import { type Stats, statSync } from "node:fs";
import { dirname } from "node:path";
import type { AcceptedFile } from "../config/accepted-files.ts";
import { parseConfig } from "../config/config.ts";
import { shownSecrets } from "../config-edit/edit-config.ts";
import { strangersRight } from "../files/own-file.ts";
import type { Surroundings } from "../framework/command.ts";
import { shellWord, shortPath, showDiff } from "../framework/show-change.ts";
import { visible } from "../framework/visible.ts";
import { type ConfigEffects, effectsOf } from "./what-it-does.ts";

export interface OfferedFile {
  path: string;
  text: string;
  /** What was accepted before. */
  accepted: AcceptedFile | undefined;
}

export function showOffered(
  context: Pick<Surroundings, "output" | "env">,
  { path, text, accepted }: OfferedFile,
): void {
  const { output } = context;
  const config = parseConfig(text, path);
  const effects = effectsOf(config, dirname(path));
  output.line(`${visible(shortPath(path, context))} would`);
  for (const line of effectLines(effects)) output.line(`  ${visible(line)}`);
  for (const line of strangersIn(path)) output.line(output.paint("yellow", `  ${visible(line)}`));
  if (accepted === undefined) return;
  output.line(`Since ${accepted.acceptedAt}, when it was accepted:`);
  const secrets = [parseConfig(accepted.text, path), config].flatMap(shownSecrets);
  showDiff(context, accepted.text, text, secrets);
}

export function effectLines(effects: ConfigEffects): string[] {
  const { starts, reaches, weakens, variables, files, commands, sets } = effects;
  const off = (isOff: boolean) => (isOff ? " (off)" : "");
  const lines = [
    ...starts.flatMap(({ name, words, cwd, env, isOff }) => [
      `start   ${name}${off(isOff)}: ${words.map(shellWord).join(" ")}   in ${cwd}`,
      ...(env.length === 0 ? [] : [`        with ${env.join(" ")}`]),
    ]),
    ...reaches.flatMap(({ name, url, headers, isOff }) => [
      `reach   ${name}${off(isOff)}: ${url}`,
      ...(headers.length === 0 ? [] : [`        with ${headers.join(" ")}`]),
    ]),
    ...weakens.map((line) => `weaken  ${line}`),
    ...(variables.length === 0 ? [] : [`take    from your environment: ${variables.join(" ")}`]),
    ...commands.map((command) => `run     ${command}, for the secret it prints`),
    ...(files.length === 0 ? [] : [`take    what is in ${files.join(" ")}`]),
    ...(sets.length === 0 ? [] : [`set     ${sets.join(", ")}`]),
  ];
  if (lines.length === 0) return ["do nothing: it is empty"];
  const [programs, addresses, weaker] = [starts, reaches, weakens].map(({ length }) => length);
  // What was shown first may be far above by now.
  const sum = `in all: starts ${programs}, reaches ${addresses}, weakens ${weaker}`;
  const later = "; what is in the programs themselves can change later without being asked about";
  return [...lines, starts.length === 0 ? sum : `${sum}${later}`];
}

/** Who else could change it, or what it starts. */
export function strangersIn(path: string): string[] {
  return [dirname(path), path].flatMap((one) => {
    const stats: Stats | undefined = statSync(one, { throwIfNoEntry: false });
    return stats === undefined ? [] : (strangersRight(one, stats)?.fault ?? []);
  });
}
