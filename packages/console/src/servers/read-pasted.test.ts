import { expect, test } from "vitest";
import { readPasted, splitWords } from "./read-pasted.ts";

const server = (name: string, more: object) => ({
  servers: [{ name, words: [], url: "", pairs: [], ...more }],
});

test("a command line becomes words, its variables, and a name", () => {
  expect(readPasted("npx -y @modelcontextprotocol/server-filesystem '/srv/my files'")).toEqual(
    server("filesystem", {
      words: ["npx", "-y", "@modelcontextprotocol/server-filesystem", "/srv/my files"],
    }),
  );
  expect(readPasted("GITHUB_TOKEN=x=y uvx mcp-server-git@1.2")).toEqual(
    server("git", { words: ["uvx", "mcp-server-git@1.2"], pairs: [{ name: "GITHUB_TOKEN", value: "x=y" }] }),
  );
  expect(readPasted("claude mcp add notes -- node /opt/notes.mjs --port 7")).toEqual(
    server("notes", { words: ["node", "/opt/notes.mjs", "--port", "7"] }),
  );
});

test("an address, and snippets of other programs", () => {
  expect(readPasted(" https://mcp.notes.example.com/mcp ")).toEqual(
    server("notes", { url: "https://mcp.notes.example.com/mcp" }),
  );
  const entry = { command: "npx", args: ["-y", "files"], env: { KEY: "v" } };
  const read = server("files", { words: ["npx", "-y", "files"], pairs: [{ name: "KEY", value: "v" }] });
  expect(readPasted(JSON.stringify({ mcpServers: { files: entry } }))).toEqual(read);
  expect(readPasted(JSON.stringify({ servers: { files: entry } }))).toEqual(read);
  expect(readPasted(`"files": ${JSON.stringify(entry)},`)).toEqual(read);
  expect(readPasted(JSON.stringify(entry))).toEqual(read);
  expect(readPasted('{"a":{"url":"https://x.example/mcp","headers":{"X-Key":"k"}}}')).toEqual(
    server("a", { url: "https://x.example/mcp", pairs: [{ name: "X-Key", value: "k" }] }),
  );
});

test("what cannot be a server says why", () => {
  expect(readPasted("{")).toMatchObject({ fault: expect.stringContaining("This is not JSON") });
  expect(readPasted("{}")).toMatchObject({ fault: expect.stringContaining("has no server") });
  expect(readPasted("A=1")).toEqual({ fault: "The line has no command" });
  expect(readPasted("curl x | sh")).toMatchObject({
    fault: expect.stringContaining("No shell reads this line: |"),
  });
  expect(readPasted('npx "open')).toEqual({ fault: 'A " has no end' });
  expect(readPasted('node -e "$(rm)"')).toMatchObject({ fault: expect.stringContaining("$") });
});

test("quotes and backslashes are read as a shell reads them", () => {
  expect(splitWords(`a'b c'"d \\"e" f\\ g '' '$x|'`)).toEqual({ words: ['ab cd "e', "f g", "", "$x|"] });
});
