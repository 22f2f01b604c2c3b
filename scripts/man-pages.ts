// node --conditions=mcpx-source scripts/man-pages.ts DIRECTORY: a manual page for each command, and one of all.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { sections } from "../packages/cli/src/command-line/commands.ts";
import { commonOptions } from "../packages/cli/src/framework/command.ts";
import { version } from "../packages/cli/src/framework/version.ts";
import { commandPage, manFileOf, overviewPage } from "./release/man-page.ts";

const about =
  "mcpx puts all MCP servers behind one address, lets agents, people and robots share rooms, and asks a person to sign before an agent does something that cannot be undone.";

const [target] = process.argv.slice(2);
if (target === undefined) throw new Error("name the directory for the pages");
mkdirSync(target, { recursive: true });
writeFileSync(join(target, "mcpx.1"), overviewPage(sections, version, about));
const listed = sections.flatMap(({ commands }) => commands);
for (const one of listed) {
  const [word] = one.name.split(" ");
  const related = listed.filter(({ name }) => name !== one.name && name.split(" ")[0] === word);
  writeFileSync(
    join(target, manFileOf(one.name)),
    commandPage(await one.load(), { version, common: commonOptions, related }),
  );
}
