import { expect, test } from "vitest";
import { colourOf, personOf, personText } from "./person.ts";

test("one person has one name, whichever page or key they use", () => {
  for (const id of ["root@console.42fb", "console:root", "root-browser-1a2b", "root"]) {
    expect([id, personOf(id).name]).toEqual([id, "root"]);
    expect(colourOf(id, 8)).toBe(colourOf("root", 8));
  }
  expect(personText("root@console.42fb")).toBe("root (console)");
  expect(personText("root-browser-1a2b")).toBe("root (browser key)");
});

test("what only looks like it keeps its id", () => {
  for (const id of [
    "agent",
    "root@console.",
    "root@consoles.42fb",
    "root@console.42fb.evil",
    "a-browser-xyz",
  ]) {
    expect(personText(id)).toBe(id);
  }
});
