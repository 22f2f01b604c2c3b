// A server of the tree whose tools a test rewrites while it runs.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { programPath } from "../../../support/programs.ts";

const script = programPath("tests/tree/pins/support/changing-server.ts");

export interface Changing {
  command: string;
  args: string[];
  /** From the next list on. */
  become(tools: readonly object[]): void;
}

export function changing(tools: readonly object[]): Changing {
  const dir = mkdtempSync(join(tmpdir(), "mcpx-changing-"));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  const file = join(dir, "tools.json");
  const become = (next: readonly object[]) => writeFileSync(file, JSON.stringify(next));
  become(tools);
  return { command: process.execPath, args: [script, file], become };
}

export function tool(name: string, description: string, more: object = {}): object {
  return {
    name,
    description,
    inputSchema: { type: "object", properties: { path: { type: "string" } } },
    ...more,
  };
}
