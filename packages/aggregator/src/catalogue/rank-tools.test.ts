import fc from "fast-check";
import { expect, test } from "vitest";
import { indexTools, rankTools, type ToolText } from "./rank-tools.ts";
import { wordsOf } from "./tool-words.ts";

const tool = (name: string, description = "", argumentNames: string[] = [], title = ""): ToolText => ({
  name,
  title,
  description,
  argumentNames,
});

const tools = [
  tool("calendar.create_event", "Creates an event in a calendar", ["title", "start", "end", "attendees"]),
  tool("calendar.delete_event", "Removes an event from a calendar", ["event_id"]),
  tool("calendar.listEvents", "The events of a day or a week", ["from", "to"]),
  tool("files.list_directory", "Get a detailed listing of all files and directories in a path", ["path"]),
  tool("files.read_file", "Reads the complete contents of a file from the file system", ["path", "encoding"]),
  tool("files.search_files", "Recursively search for files and directories matching a pattern", ["pattern"]),
  tool("files.write_file", "Creates a new file or overwrites an existing one", ["path", "content"]),
  tool("git.commit", "Records changes to the repository", ["message"]),
  tool("git.log", "Shows the commit history", ["max_count"]),
  tool("github.create_issue", "Opens an issue in a repository", ["owner", "repo", "title", "body"]),
  tool(
    "github.create_pull_request",
    "Proposes changes of a branch for review",
    ["head", "base"],
    "Open a PR",
  ),
  tool("mail.send", "Sends an e-mail", ["to", "subject", "body"]),
  tool("mail.sendHTMLMail", "Sends a formatted e-mail", ["to", "html"]),
  tool("weather.forecast", "How the weather will be at a place", ["latitude", "longitude"]),
];
const index = indexTools(tools);
const first = (query: string) => {
  const [best] = rankTools(index, query, 5);
  return best && tools[best.tool]?.name;
};

test.each([
  ["read a file", "files.read_file"],
  ["reading files", "files.read_file"],
  ["show me the contents of this file please", "files.read_file"],
  ["what files are in a directory", "files.list_directory"],
  ["list directories", "files.list_directory"],
  ["search", "files.search_files"],
  ["overwrite an existing file", "files.write_file"],
  ["make a new calendar event", "calendar.create_event"],
  ["creating events", "calendar.create_event"],
  ["delete events", "calendar.delete_event"],
  ["events of this week", "calendar.listEvents"],
  ["commit history", "git.log"],
  ["commit", "git.commit"],
  ["open an issue", "github.create_issue"],
  ["PR", "github.create_pull_request"],
  ["pull requests", "github.create_pull_request"],
  ["send html", "mail.sendHTMLMail"],
  ["send mail", "mail.send"],
  ["latitude", "weather.forecast"],
  ["forec", "weather.forecast"],
  ["github.create_issue", "github.create_issue"],
  ["Git.Log", "git.log"],
])("%j finds %s first", (query, name) => {
  expect(first(query)).toBe(name);
});

test.each([
  ["listDirectories_v2", ["list", "directory", "v2"]],
  ["parseHTMLPage", ["pars", "html", "pag"]],
  ["created creating creates create", ["creat", "creat", "creat", "creat"]],
  ["running runs run", ["run", "run", "run"]],
  ["copies copied copy", ["copy", "copy", "copy"]],
  ["boxes searches status is bus class", ["box", "search", "status", "is", "bus", "class"]],
  ["sing red string", ["sing", "red", "string"]],
  ["Größe café", ["groß", "caf"]],
  ["日本語 検索", ["日本語", "検索"]],
  ["__--..", []],
])("%j is the words %j", (text, words) => {
  expect(wordsOf(text)).toEqual(words);
});

test("nothing is found by words that are nowhere, and by no words", () => {
  expect(["quux", "", "...", "%"].map((query) => rankTools(index, query, 5))).toEqual([[], [], [], []]);
  expect(rankTools(indexTools([]), "read", 5)).toEqual([]);
});

test("what is not wanted takes nobody's place", () => {
  const ranked = rankTools(index, "create", 2, (number) => !tools[number]?.name.startsWith("calendar"));
  expect(ranked.map(({ tool }) => tools[tool]?.name)).toEqual([
    "github.create_issue",
    "github.create_pull_request",
  ]);
});

test("any texts are indexed, every tool is found by its own name, and a longer list begins as a shorter one", () => {
  const text = fc.string({ unit: "binary", maxLength: 40 });
  const any = fc.record({ name: text, title: text, description: text, argumentNames: fc.array(text) });
  fc.assert(
    fc.property(
      fc.uniqueArray(any, { selector: ({ name }) => name.toLowerCase().trim() }),
      text,
      (all, query) => {
        const made = indexTools(all);
        const ranked = rankTools(made, query, 1_000);
        expect(rankTools(made, query, 3)).toEqual(ranked.slice(0, 3));
        for (const { tool: number, score } of ranked) {
          expect(all.keys()).toContain(number);
          expect(score).toBeGreaterThan(0);
        }
        for (const one of all.filter(({ name }) => name.trim() === name && name !== "")) {
          const [best] = rankTools(made, one.name, 1);
          expect(all[best?.tool ?? -1]?.name).toBe(one.name);
        }
      },
    ),
    { numRuns: 200 },
  );
});
