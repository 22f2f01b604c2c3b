import type { Participant, RoomEnvelope, ToolList } from "@mcpx/client";
import { expect, test } from "vitest";
import { summaryOf } from "../ui/summary.ts";
import { lineSecrets } from "./call-secrets.ts";

const params = { name: "unlock", arguments: { owner: "old-mother", word: "opensesame" } };
const call = (more: object = {}) =>
  ({
    ...{ protocol: "mcpx/v0.1", id: "e", ts: "", from: "anna", to: ["robot"], kind: "mcp" },
    payload: { jsonrpc: "2.0", id: 1, method: "tools/call", params },
    ...more,
  }) as RoomEnvelope;
const robot: Participant = { id: "robot" };
const inputSchema = { properties: { word: { type: "string", format: "password" } } };
const listed: ToolList = { state: "listed", tools: [{ name: "unlock", inputSchema }] as never };
const lineOf = (envelope: RoomEnvelope, list: ToolList | undefined, participants = [robot]) => {
  const tools = new Map(list === undefined ? [] : [["robot", list]]);
  const secrets = lineSecrets(envelope, tools, participants);
  return { ...secrets, text: summaryOf(envelope, secrets).text };
};

test("the schema of a participant's tool masks its calls and proposals, and before it is known nothing is shown", () => {
  for (const kind of ["mcp", "mcp/proposal"]) {
    expect(lineOf(call({ kind }), listed)).toMatchObject({
      places: ["/word"],
      unlisted: [],
      text: '{"owner":"old-mother","word":"•••"}',
    });
    for (const list of [undefined, { state: "loading" } as const]) {
      expect(lineOf(call({ kind }), list)).toMatchObject({ unlisted: ["robot"], text: "…" });
    }
  }
});

test("where nobody can tell, name and shape are left", () => {
  const open = '{"owner":"old-mother","word":"opensesame"}';
  expect(lineOf(call(), { state: "failed", fault: "" })).toMatchObject({ unlisted: [], text: open });
  expect(lineOf(call(), undefined, [{ id: "anna" }])).toMatchObject({ unlisted: [], text: open });
  expect(lineOf(call(), undefined, [])).toMatchObject({ text: '{"owner":"•••","word":"•••"}' });
  expect(lineOf(call({ to: [] }), listed)).toMatchObject({ unlisted: [], text: open });
});
