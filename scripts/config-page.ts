// Writes the table of keys in docs/CONFIG.md from what the command line says of them.
import { readFileSync, writeFileSync } from "node:fs";
import { configTable } from "../packages/cli/src/config/config-reference.ts";

const file = new URL("../docs/CONFIG.md", import.meta.url);
const page = readFileSync(file, "utf8");
writeFileSync(
  file,
  page.replace(/^\| key \| type \| default \| what \|\n(?:\|.*\n?)*/m, () => `${configTable()}\n`),
);
