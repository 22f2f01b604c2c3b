// Whose lists are shown to whom, where servers keep something for each conversation.
import type { JsonObject } from "@mcpx/protocol";
import { expect, test } from "vitest";
import type { LinkRequest } from "../links/link.ts";
import type { Opening, OpenServer } from "../servers/server.ts";
import { inProcessServer, serverOptions } from "../testing/in-process-server.ts";
import { callerOf, testTree } from "../testing/test-tree.ts";

const tool = (name: string, description = "") => ({ name, description, inputSchema: { type: "object" } });

/** Each conversation has a tool more once something was opened in it. */
function keeping(options: { tells?: boolean } = {}) {
  const openings: Opening[] = [];
  const open: OpenServer = async (opening, taker) => {
    openings.push(opening);
    const tools = [tool("open")];
    const one = inProcessServer({
      era: "legacy",
      handle({ method, params }: LinkRequest) {
        if (method === "tools/list") return { tools: [...tools] };
        if (method !== "tools/call") return undefined as never;
        if (params.name === "open") {
          tools.push(tool("close", `Closes ${String((params.arguments as JsonObject).project)}`));
          if (options.tells === true) taker.notification("notifications/tools/list_changed", {});
        }
        return { content: [{ type: "text", text: String(params.name) }] };
      },
    });
    return await one.open(opening, taker);
  };
  const { ask, tree, clock } = testTree([serverOptions("s", open)]);
  const as = (key: string) => ({
    caller: { era: "legacy", key, capabilities: { elicitation: {} } } as const,
  });
  const namesOf = async (key: string) => {
    const { tools } = await ask("tools/list", {}, as(key));
    return (tools as { name: string }[]).map(({ name }) => name).filter((name) => name.startsWith("s."));
  };
  const openProject = (key: string) =>
    ask("tools/call", { name: "s.open", arguments: { project: `${key}'s` } }, as(key));
  return { ask, as, namesOf, openProject, openings, tree, clock };
}

test.each([
  ["tells of it", true],
  ["keeps quiet", false],
])(
  "what a conversation lists after its caller's calls is that caller's alone; the server %s",
  async (_, tells) => {
    const { ask, as, namesOf, openProject, clock } = keeping({ tells });
    expect(await namesOf("ada")).toEqual(["s.open"]);
    await openProject("ada");
    clock.advance(60_001);
    expect(await namesOf("ada")).toEqual(["s.close", "s.open"]);
    expect(await namesOf("bob")).toEqual(["s.open"]);
    const { tools } = await ask("tools/list", {}, as("bob"));
    expect(JSON.stringify(tools)).not.toContain("ada");
    await expect(ask("tools/call", { name: "s.close" }, as("bob"))).rejects.toThrow();
    await expect(ask("tools/call", { name: "s.close" }, as("ada"))).resolves.toBeDefined();
  },
);

test("callers that have called nothing share a list, and the conversation it was read in", async () => {
  const { namesOf, openings } = keeping();
  for (const key of ["ada", "bob", "carol"]) expect(await namesOf(key)).toEqual(["s.open"]);
  expect(openings).toHaveLength(1);
});

test("it is forgotten with its conversation", async () => {
  const { namesOf, openProject, tree, as, clock } = keeping();
  await openProject("ada");
  clock.advance(60_001);
  expect(await namesOf("ada")).toContain("s.close");
  tree.leave(callerOf(as("ada")));
  expect(await namesOf("ada")).toEqual(["s.open"]);
});

test("names made fit for a client mean what that client was shown", async () => {
  const { ask, as, openProject, clock } = keeping();
  await openProject("ada");
  clock.advance(60_001);
  const safe = (key: string) => ({ caller: { ...as(key).caller, dialect: "safe" as const } });
  await ask("tools/list", {}, safe("ada"));
  await ask("tools/list", {}, safe("bob"));
  await expect(ask("tools/call", { name: "s__close" }, safe("ada"))).resolves.toBeDefined();
  await expect(ask("tools/call", { name: "s__close" }, safe("bob"))).rejects.toThrow();
});
