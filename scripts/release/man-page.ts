// Manual pages of section 1, from the same texts as the help at the terminal. Pure; what it is given is roff when it returns.
import type { Command, ListedCommand, OptionSpecs } from "../../packages/cli/src/framework/command.ts";

export interface ManSection {
  title: string;
  commands: readonly Pick<ListedCommand, "name" | "summary">[];
}

/** `mcpx-token-list.1` */
export function manFileOf(name: string): string {
  return `${pageOf(name)}.1`;
}

/** Of one command; `related` are those that begin with the same word. */
export function commandPage(
  { name, summary, usage, options, examples }: Command,
  {
    version,
    common,
    related,
  }: { version: string; common: OptionSpecs; related: readonly { name: string }[] },
): string {
  const synopsis = usage.split("\n").map((one) => `.B mcpx ${roff(name)}\n${roff(one)}`);
  return page(pageOf(name), version, [
    `.SH NAME\n${pageOf(name)} \\- ${roff(summary)}`,
    `.SH SYNOPSIS\n${synopsis.join("\n.br\n")}`,
    `.SH OPTIONS\n${Object.entries({ ...options, ...common })
      .map(([option, { value, multiple, about }]) => {
        const sign = `.B \\-\\-${roff(option)}${value === undefined ? "" : ` ${roff(value)}`}`;
        return `.TP\n${sign}\n${roff(multiple === true ? `${about}; may be repeated` : about)}`;
      })
      .join("\n")}`,
    `.SH EXAMPLES\n${examples.map(([line, meaning]) => `.TP\n.B ${roff(line)}\n${roff(meaning)}`).join("\n")}`,
    seeAlso(["mcpx", ...related.map((one) => pageOf(one.name))]),
  ]);
}

/** Of all of them. */
export function overviewPage(sections: readonly ManSection[], version: string, about: string): string {
  return page("mcpx", version, [
    `.SH NAME\nmcpx \\- a gateway between AI agents and the tools they use`,
    ".SH SYNOPSIS\n.B mcpx\n.I COMMAND\n[options]",
    `.SH DESCRIPTION\n${roff(about)}`,
    `.SH COMMANDS\n${sections
      .map(({ title, commands }) => {
        const rows = commands.map(({ name, summary }) => `.TP\n.B mcpx ${roff(name)}\n${roff(summary)}`);
        return `.SS ${roff(title)}\n${rows.join("\n")}`;
      })
      .join("\n")}`,
    seeAlso(sections.flatMap(({ commands }) => commands.map(({ name }) => pageOf(name)))),
  ]);
}

function page(title: string, version: string, parts: readonly string[]): string {
  return `.TH "${title.toUpperCase()}" "1" "" "mcpx ${version}" "mcpx"\n.nh\n.ad l\n${parts.join("\n")}\n`;
}

function seeAlso(pages: readonly string[]): string {
  return `.SH "SEE ALSO"\n${pages.map((one) => `.BR ${one} (1)`).join(",\n")}`;
}

function pageOf(name: string): string {
  return `mcpx-${name.replaceAll(" ", "-")}`;
}

/** Text that roff reads as it is: no sign of its own, and no line that begins with one of its commands. */
function roff(text: string): string {
  return text
    .replaceAll("\\", "\\e")
    .replaceAll("-", "\\-")
    .replaceAll('"', "\\(dq")
    .replaceAll("'", "\\(aq")
    .replaceAll("`", "\\(ga")
    .replaceAll("^", "\\(ha")
    .replaceAll("~", "\\(ti")
    .replace(/^\./gm, "\\&.")
    .replace(
      /[^\n\x20-\x7e]/gu,
      (sign) => `\\[u${sign.codePointAt(0)?.toString(16).toUpperCase().padStart(4, "0")}]`,
    );
}
