import { expect, test } from "vitest";
import { countLines, longest, longFunctions } from "./long-code.ts";

const body = (lines: number) => Array.from({ length: lines }, (_, i) => `  work(${i});`).join("\n");

test("a function is long from its first line to its last, whatever it is", () => {
  const inner = longest.functionLines - 1;
  const source = `// a comment

export function declared(a: number): void {
${body(inner)}
}
const assigned = async () => {
${body(inner)}
};
class Room {
  method(): void {
${body(inner)}
  }
}
export default { ["computed"]: function () {
${body(inner)}
} };
`;
  const names = ["declared", "assigned", "method", "a function without a name"];
  const found = longFunctions(source);
  expect(found.map(({ name }) => name)).toEqual(names);
  expect(found.map(({ lines }) => lines)).toEqual(names.map(() => longest.functionLines + 1));
  expect(found[0]?.line).toBe(3);
});

test("control: one line less is not long, and text that looks like a function is none", () => {
  const inner = longest.functionLines - 2;
  const text = `const words = \`function long() {\n${body(200)}\n}\`; // function () {`;
  expect(longFunctions(`function short() {\n${body(inner)}\n}\n${text}\n`)).toEqual([]);
});

test("of a component its script is read, and lines are those of the file", () => {
  const source = `<p>{a} < b</p>\n<script lang="ts">\n  function long(a: string) {\n${body(100)}\n  }\n</script>\n`;
  expect(longFunctions(source, true)).toEqual([{ name: "long", line: 3, lines: 102 }]);
});

test("lines are counted as an editor counts them", () => {
  expect(["a\nb\n", "a\nb", ""].map(countLines)).toEqual([2, 2, 1]);
});
