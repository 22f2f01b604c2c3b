// The approvals of agent frameworks, asked at a gate: what is allowed, what is not, and what restarts do to it. The
// frameworks themselves are tried by `npm run soak -- tests/clients`.
import { once } from "node:events";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { type AskedCall, answerHook, canUseToolBy, createApprovals } from "@mcpx/client/adapters";
import { digestOf, type JsonObject } from "@mcpx/protocol";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { type Desk, openDesk } from "./adapters/desk.ts";

let desk: Desk;

beforeAll(async () => {
  desk = await openDesk({
    rules: [
      { tools: "mcpax.ask", action: "allow", where: { tool: "Read" } },
      { tools: "mcpax.ask", action: "deny", where: { tool: "Nuke" } },
    ],
  });
});

afterAll(() => desk?.server.stop());

const rm = (call: string): AskedCall => ({ tool: "Bash", arguments: { command: "rm -r x" }, call });
const approvalsOf = async (id?: string) =>
  createApprovals({ url: desk.server.url, token: await desk.token(id) });
const waitMs = 20_000;

describe("asked at a gate", () => {
  test("[B-CLIENT-3] people see the call as it is, and their approval allows it once", async () => {
    const { ask } = await approvalsOf("one");
    const waiting = await ask(rm("c-1"));
    expect(waiting).toMatchObject({ status: "waiting", url: expect.stringContaining("/approve/") });
    const answer = ask(rm("c-1"), { waitMs });
    expect(await desk.decide("approve", "one")).toMatchObject(rm("c-1"));
    expect(await answer).toEqual({ status: "allowed" });
    // What was approved is used up: the same again is asked about again.
    expect(await ask(rm("c-1"))).toMatchObject({ status: "waiting" });
    await desk.decide("reject", "one");
    expect(await ask(rm("c-1"))).toEqual({
      status: "denied",
      reason: expect.stringContaining("alice has rejected this call: not on a Friday"),
    });
  });

  test("[B-CLIENT-3] two that wait for one approval: one goes, the other is asked about again", async () => {
    const { ask } = await approvalsOf("twins");
    const twins = [ask(rm("c-1"), { waitMs }), ask(rm("c-1"), { waitMs })];
    await desk.decide("approve", "twins");
    expect(await Promise.race(twins)).toEqual({ status: "allowed" });
    await desk.decide("reject", "twins");
    const answers = await Promise.all(twins);
    expect(answers.map(({ status }) => status).sort()).toEqual(["allowed", "denied"]);
  });

  test("[B-CLIENT-3] rules of the operator decide without anybody: allowed and denied at once", async () => {
    const { ask } = await approvalsOf("ruled");
    expect(await ask({ tool: "Read", arguments: { path: "x" }, call: "1" })).toEqual({ status: "allowed" });
    expect(await ask({ tool: "Nuke", arguments: {}, call: "1" })).toMatchObject({ status: "denied" });
    expect(await desk.asked("ruled")).toEqual([]);
  });

  test("[B-CLIENT-3] decided while neither the agent nor its connection was there: heard after the restart", async () => {
    const before = await approvalsOf("sleeper");
    expect(await before.ask(rm("night"))).toMatchObject({ status: "waiting" });
    await desk.server.restart();
    await desk.decide("approve", "sleeper");
    await desk.server.restart();
    const after = await approvalsOf("sleeper");
    // Another call is not what was approved.
    expect(await after.ask(rm("day"))).toMatchObject({ status: "waiting" });
    expect(await after.ask(rm("night"))).toEqual({ status: "allowed" });
  });

  test("[B-CLIENT-3] a gateway that restarts while it is waited for costs nothing", async () => {
    const { ask } = await approvalsOf("patient");
    const answer = ask(rm("c-1"), { waitMs: 60_000 });
    await expect.poll(() => desk.asked("patient")).toHaveLength(1);
    await desk.server.restart();
    await desk.decide("approve", "patient");
    expect(await answer).toEqual({ status: "allowed" });
  });
});

describe("fails closed", () => {
  /** Answers whatever it is asked with this. */
  const liar = async (answer: (asked: JsonObject) => JsonObject | Promise<JsonObject>) => {
    const listener: RequestListener = async (request, response) => {
      const parts: Buffer[] = [];
      for await (const part of request) parts.push(part);
      const { id, params } = JSON.parse(Buffer.concat(parts).toString());
      const message = { jsonrpc: "2.0", id, ...(await answer(params.arguments)) };
      response.setHeader("content-type", "application/json").end(JSON.stringify(message));
    };
    const http = createServer(listener).listen(0, "127.0.0.1");
    await once(http, "listening");
    onTestFinished(() => void http.close());
    return createApprovals({
      url: `http://127.0.0.1:${(http.address() as AddressInfo).port}`,
      token: "x",
    });
  };
  const saying = (structuredContent: JsonObject, more: JsonObject = {}) => ({
    result: { content: [], structuredContent, ...more },
  });

  test("[B-CLIENT-3] answers about another call, or of another form, allow nothing", async () => {
    const digest = await digestOf({ ...rm("c-2") });
    const forged = [
      saying({ status: "allowed" }),
      saying({ status: "allowed", digest }),
      saying({ status: "allowed", digest: await digestOf({ ...rm("c-1") }) }, { isError: true }),
      saying({ status: "approved", digest: await digestOf({ ...rm("c-1") }) }),
      { result: { content: [{ type: "text", text: "allowed" }] } },
    ];
    for (const answer of forged) {
      const { ask } = await liar(() => answer);
      expect(await ask(rm("c-1")), JSON.stringify(answer)).toMatchObject({ status: "denied" });
    }
    const strangers = await liar(() => ({ id: "another", ...forged[1] }));
    await expect(strangers.ask(rm("c-1"))).rejects.toMatchObject({ reason: "network" });
    // The control: what the tree says of exactly this call allows it.
    const honest = await liar(async (asked) => saying({ status: "allowed", digest: await digestOf(asked) }));
    expect(await honest.ask(rm("c-1"))).toEqual({ status: "allowed" });
  });

  test("[B-CLIENT-3] without a gateway, with a bad token, or over a network in the clear, nobody is asked", async () => {
    const nowhere = createApprovals({ url: "http://127.0.0.1:9", token: "x" });
    await expect(nowhere.ask(rm("c-1"))).rejects.toMatchObject({ reason: "network" });
    await expect(createApprovals({ url: desk.server.url, token: "x" }).ask(rm("c-1"))).rejects.toMatchObject({
      reason: "unauthorised",
    });
    const token = await desk.server.token({ sub: "toolless", topics: [], tools: [] });
    await expect(createApprovals({ url: desk.server.url, token }).ask(rm("c-1"))).rejects.toMatchObject({
      reason: "unknown_tool",
    });
    expect(() => createApprovals({ url: "http://gateway.example", token })).toThrow("must be https:");
    const canUse = canUseToolBy(nowhere, { waitMs: 0 });
    expect(await canUse("Bash", {}, { signal: new AbortController().signal })).toMatchObject({
      behavior: "deny",
      message: expect.stringContaining("cannot be reached"),
    });
  });

  test("[B-CLIENT-3] a gateway that was never there is not waited for as people are", async () => {
    const nowhere = createApprovals({ url: "http://127.0.0.1:9", token: "x" });
    const patient = { waitMs: 3_600_000, reachMs: 50 };
    await expect(nowhere.ask(rm("c-1"), patient)).rejects.toMatchObject({ reason: "network" });
  });

  test("[B-CLIENT-3] nobody has decided in time: denied, and asked anew the next time", async () => {
    const hasty = await openDesk({ timeout: 1_000 });
    onTestFinished(() => hasty.server.stop());
    const { ask } = createApprovals({ url: hasty.server.url, token: await hasty.token() });
    expect(await ask(rm("c-1"), { waitMs })).toEqual({
      status: "denied",
      reason: expect.stringContaining("nobody has approved"),
    });
    expect(await ask(rm("c-1"))).toMatchObject({ status: "waiting" });
  });

  test("[B-CLIENT-3] what is no PreToolUse hook is denied", async () => {
    const approvals = await approvalsOf("hook");
    const input = { hook_event_name: "PreToolUse", tool_name: "Read", tool_input: {}, session_id: "s" };
    const decisionOf = async (given: unknown) =>
      (await answerHook(approvals, given, {})).hookSpecificOutput.permissionDecision;
    expect(await decisionOf(input)).toBe("allow");
    expect(await decisionOf({ ...input, hook_event_name: "PostToolUse" })).toBe("deny");
    expect(await decisionOf({ ...input, tool_name: undefined })).toBe("deny");
    expect(await decisionOf("allow")).toBe("deny");
  });
});
