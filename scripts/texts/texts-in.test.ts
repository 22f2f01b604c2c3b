import { expect, test } from "vitest";
import { avoidedText, findAvoided, readAvoidedWords, withoutAvoidedTable } from "./avoided-words.ts";
import { textsIn } from "./texts-in.ts";

const typescript = `import { thing } from "./some thing.ts";
type Mode = "type only" | "no text";
export function work(name: string, isLate: boolean): void {
  log.warn({ name }, "could not open the file");
  if (name === "not shown") throw new McpxError("bad_request", \`no room for \${name} here\`);
  output.line(isLate ? "too late" : \`done in \${String(1)} s\`);
  db.exec("SELECT a FROM b WHERE c = 1");
  const command = { name: "up", summary: "start the gateway", "some key": thing };
  return command["other key"];
}
`;

test("texts are found with their lines, kinds and values", () => {
  expect(textsIn(typescript, false)).toEqual([
    { line: 4, kind: "log", text: "could not open the file" },
    { line: 5, kind: "error", text: "no room for {name} here" },
    { line: 6, kind: "output", text: "too late" },
    { line: 6, kind: "output", text: "done in {String(1)} s" },
    { line: 8, kind: "help", text: "start the gateway" },
  ]);
});

test("a new text is listed", () => {
  const more = typescript.replace("db.exec", 'const hint = "run mcpx up first";\n  db.exec');
  expect(textsIn(more, false)).toContainEqual({ line: 7, kind: "text", text: "run mcpx up first" });
});

test("words of components are labels; their styles and classes are not", () => {
  const component = `<script lang="ts">
  let { isOpen }: { isOpen: boolean } = $props();
</script>
<button class="wide and red" title="Close this page" onclick={close}>Close</button>
{#if isOpen}<p>It is {isOpen ? "really open" : "shut"}.</p>{/if}
<style>.red { color: red; }</style>
`;
  expect(textsIn(component, true)).toEqual([
    { line: 4, kind: "label", text: "Close this page" },
    { line: 4, kind: "label", text: "Close" },
    { line: 5, kind: "label", text: "It is" },
    { line: 5, kind: "text", text: "really open" },
  ]);
});

const glossary = `# Words

| word | meaning |
|---|---|
| deadline | the time at which a call is given up |

## Words not used

| not used | instead |
|---|---|
| patience, long wait | deadline |
`;

test("avoided words are those of the table, and a use names file, line and the better word", () => {
  const words = readAvoidedWords(glossary);
  expect(words).toEqual([
    { word: "patience", better: "deadline" },
    { word: "long wait", better: "deadline" },
  ]);
  const texts = textsIn('log.info("its Patience is over");\nlog.info("impatience is fine");\n', false);
  const [use, ...others] = findAvoided(texts, words);
  expect(others).toEqual([]);
  expect(use && avoidedText("a.ts", use)).toBe(
    'a.ts:1: "patience" in "its Patience is over": write deadline',
  );
  expect(findAvoided([{ line: 2, text: "a long\nwait" }], words)).toHaveLength(1);
  expect(withoutAvoidedTable(glossary)).not.toContain("patience");
});
