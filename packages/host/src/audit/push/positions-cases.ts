// What every store of positions has to do.
import { expect, test } from "vitest";
import type { AuditPositions } from "./positions.ts";

interface OpenPositions {
  positions: AuditPositions;
  /** The same store once more, as another process has it. */
  open(): Promise<AuditPositions>;
}

/** Each call opens an empty one. */
export function auditPositionCases(open: () => Promise<OpenPositions>): void {
  test("a position is there after a restart, the last one counts, and places do not share theirs", async () => {
    const { positions, open: again } = await open();
    expect(await positions.read("siem")).toBeUndefined();
    await positions.write("siem", { seq: 7, hash: "a" });
    await positions.write("siem", { seq: 9, hash: "b" });
    await positions.write("audit_pruned", { seq: 1, hash: "c" });
    const other = await again();
    expect(await other.read("siem")).toEqual({ seq: 9, hash: "b" });
    expect(await other.read("audit_pruned")).toEqual({ seq: 1, hash: "c" });
    expect(await other.read("elsewhere")).toBeUndefined();
  });
}
