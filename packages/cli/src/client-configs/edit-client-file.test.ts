import { expect, test } from "vitest";
import { entryIn, withEntry } from "./edit-client-file.ts";

const codex = { format: "toml", entryPath: ["mcp_servers", "mcpx"] } as const;
const cursor = { format: "json", entryPath: ["mcpServers", "mcpx"] } as const;
const entry = { url: "http://x/mcp", http_headers: { Authorization: "Bearer t" } };
const table = '[mcp_servers.mcpx]\nurl = "http://x/mcp"\nhttp_headers = { Authorization = "Bearer t" }\n';

test.each([
  ["", table],
  ["a = 1\n", `a = 1\n\n${table}`],
  ["a = 1", `a = 1\n\n${table}`],
  ['[mcp_servers.other]\ncommand = "x" # why\n', `[mcp_servers.other]\ncommand = "x" # why\n\n${table}`],
])("a table goes to the end of %j, and out again", (text, expected) => {
  const after = withEntry(text, entry, codex, "f");
  expect(after).toBe(expected);
  expect(withEntry(after, undefined, codex, "f").trimEnd()).toBe(text.trimEnd());
});

test("an older table of ours is replaced where it stands, with the tables inside it", () => {
  const text =
    'a = 1\n\n[mcp_servers."mcpx"]\nurl = "old"\n[mcp_servers.mcpx.env]\nA = "1"\n\n# about tui\n[tui]\nb = 2\n';
  expect(withEntry(text, entry, codex, "f")).toBe(`a = 1\n\n${table}\n# about tui\n[tui]\nb = 2\n`);
  expect(withEntry(text, undefined, codex, "f")).toBe("a = 1\n\n\n# about tui\n[tui]\nb = 2\n");
});

test.each([
  ["inline servers", 'mcp_servers = { a = { command = "x" } }\n'],
  ["dotted keys", '[mcp_servers]\nmcpx.url = "old"\n'],
  ["a text that looks like ours", 'note = """\n[mcp_servers.mcpx]\nurl = 1\n"""\n'],
])("TOML with %s is left alone rather than broken", (_, text) => {
  expect(() => withEntry(text, entry, codex, "f")).toThrow(
    "f is written in a way that cannot be edited safely",
  );
});

test("JSON that is broken or of another shape is refused", () => {
  expect(() => withEntry("{", entry, cursor, "f")).toThrow(/^f:1:2 is not JSON/);
  expect(() => withEntry('{"mcpServers":[]}', entry, cursor, "f")).toThrow("f: mcpServers is not an object");
  expect(() => withEntry("[]", entry, cursor, "f")).toThrow("f:1:1 is not an object");
  // Of a key given twice, programs read the last and we would edit the first.
  const twice = '{"mcpServers":{},"mcpServers":{"a":{}}}';
  expect(() => withEntry(twice, entry, cursor, "f")).toThrow("cannot be edited safely");
});

test("the entry is found only where it is", () => {
  expect(entryIn("", cursor, "f")).toBeUndefined();
  expect(entryIn('{"mcpServers":{"mcpx":{"url":"u"}}}', cursor, "f")).toEqual({ url: "u" });
});
