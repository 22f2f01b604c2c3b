// A directory for one test, gone when it is finished.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";

export function scratch(): string {
  const path = mkdtempSync(join(tmpdir(), "mcpx-tree-"));
  onTestFinished(() => rmSync(path, { recursive: true, force: true }));
  return path;
}
