import fc from "fast-check";
import { expect, test } from "vitest";
import { matchesGlob } from "../names.ts";
import { matchesTool, withoutRoot, withRoot } from "./root-name.ts";

test("[AX-3.1-1] [AX-4.1-1] the root's segment stands first; the tree's own tools keep their names", () => {
  expect(withRoot("infra", "edge.stm32h7.dma2d_status")).toBe("infra.edge.stm32h7.dma2d_status");
  expect(withRoot("infra", "mcpax.status")).toBe("mcpax.status");
  expect(withRoot("infra", "edge.mcpax.status")).toBe("infra.edge.mcpax.status");
  expect(withRoot(undefined, "edge.t")).toBe("edge.t");
});

test("[AX-3.1-1] written with or without it, a name means the same", () => {
  expect(withoutRoot("infra", "infra.edge.t")).toBe("edge.t");
  expect(withoutRoot("infra", "edge.t")).toBe("edge.t");
  expect(withoutRoot(undefined, "infra.edge.t")).toBe("infra.edge.t");
  // One segment is taken off, never two, and only the whole one.
  expect(withoutRoot("infra", "infra.infra.t")).toBe("infra.t");
  for (const other of ["infra", "infrared.t", "infra_.t", "x.infra.t"])
    expect(withoutRoot("infra", other)).toBe(other);
});

const segment = fc.constantFrom("infra", "edge", "mcpax", "a", "infrared");
const name = fc.array(segment, { minLength: 1, maxLength: 4 }).map((parts) => parts.join("."));
const part = fc.constantFrom("infra", "edge", "mcpax", "a", "*", "**", "in*", "*a");
const glob = fc.array(part, { minLength: 1, maxLength: 4 }).map((parts) => parts.join("."));

test("[AX-3.1-1] a glob without the root's segment matches exactly what it matched before", () => {
  fc.assert(
    fc.property(glob, name, (written, tool) => {
      fc.pre(!written.startsWith("infra."));
      expect(matchesTool("infra", written, tool)).toBe(matchesGlob(written, tool, "."));
    }),
  );
});

test("[AX-3.1-1] a glob with the root's segment matches what the rest of it matches, no star stands for the root", () => {
  fc.assert(
    fc.property(glob, name, (rest, tool) => {
      expect(matchesTool("infra", `infra.${rest}`, tool)).toBe(matchesGlob(rest, tool, "."));
    }),
  );
  expect(matchesTool("infra", "*.edge.t", "edge.t")).toBe(false);
  expect(matchesTool("infra", "*.*", "t")).toBe(false);
});
