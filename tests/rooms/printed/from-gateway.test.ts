// Messages the documents print for the gateway, beside what ours sends.
import { describe, expect, onTestFinished, test } from "vitest";
import { enter } from "../../support/enter.ts";
import { startTestServer, type TestServerOptions } from "../../support/test-server.ts";
import { adr003, type Printed, toolsRequest, v01 } from "./messages.ts";

async function start(options: TestServerOptions = {}) {
  const server = await startTestServer(options);
  onTestFinished(() => server.stop());
  return server;
}

const textOf = (all: readonly Printed[], title: string) =>
  (all.find((printed) => printed.title === title) as Printed).text;
const v0 = { query: { protocol: "mcp-x/v0" } };

describe("what the gateway says", () => {
  test("[X0-5.2-4] [X0-4.2-1] v0 §5.3 and §13.2: welcome and join, field by field", async () => {
    const server = await start();
    const robot = { kind: "robot", name: "Robot Alpha", query: { ...v0.query, mcp: "2025-06-18" } } as const;
    const alpha = await enter(server, "robot-alpha", robot);
    const coordinator = await enter(server, "coordinator", { ...v0, name: "Coordinator" });
    expect(coordinator.welcome).toMatchObject({
      protocol: "mcp-x/v0",
      from: "system:gateway",
      kind: "system",
      payload: {
        event: "welcome",
        participant: { id: "coordinator" },
        participants: [
          { id: "robot-alpha", name: "Robot Alpha", kind: "robot", mcp: { version: "2025-06-18" } },
        ],
        history: { enabled: true, limit: expect.any(Number) },
        protocol: "mcp-x/v0",
      },
    });
    expect(await alpha.event("join")).toMatchObject({
      protocol: "mcp-x/v0",
      from: "system:gateway",
      kind: "presence",
      payload: { event: "join", participant: { id: "coordinator", name: "Coordinator" } },
    });
    // Nobody else may say so.
    const forged = { event: "join", participant: { id: "coordinator" } };
    const text = { protocol: "mcp-x/v0", id: "env-join-1", kind: "presence", payload: forged };
    alpha.ws.send(JSON.stringify({ ...text, from: "system:gateway" }));
    expect(await alpha.outcome("env-join-1")).toBe("wrong_from");
    alpha.ws.send(JSON.stringify(text));
    expect(await alpha.outcome("env-join-1")).toBe("kind_not_allowed");
  });

  test("[X1-4.4.1-1] [X1-4.4.2-1] v0.1 §4.4: welcome with the level, and the answer to a violation", async () => {
    const server = await start();
    const violator = await enter(server, "trusted-agent", { level: "restricted" });
    expect(violator.welcome).toMatchObject({
      protocol: "mcpx/v0.1",
      from: "system:gateway",
      to: ["trusted-agent"],
      kind: "system",
      payload: {
        event: "welcome",
        participant: { id: "trusted-agent", privilege: "restricted" },
        participants: [],
        protocol: "mcpx/v0.1",
      },
    });
    violator.ws.send(textOf(v01, "v0.1 §4.1.1: a tool call of a full participant"));
    const refusal = await violator.next();
    expect(refusal).toMatchObject({
      protocol: "mcpx/v0.1",
      from: "system:gateway",
      to: ["trusted-agent"],
      kind: "mcp",
      correlation_id: "env-call-1",
      payload: {
        jsonrpc: "2.0",
        id: 42,
        error: {
          code: -32001,
          message: "Privilege violation",
          data: { suggestion: "Use kind: 'mcp/proposal' instead" },
        },
      },
    });
    // Printed as prose: here a stable word, with the prose beside it.
    const { reason, detail } = refusal.payload.error.data;
    expect(reason).toBe("privilege_violation");
    expect(detail).toMatch(/^restricted participants cannot send/);
  });

  test("[X1-10.1-1] [X1-10.3-1] v0.1 §10.1 and §10.3: a connection's state and a promotion, by their printed names", async () => {
    const server = await start();
    await enter(server, "agent-a", { level: "restricted" });
    const admin = await server.adminToken();
    const { body: listed } = await server.call("GET", "/admin/connections", admin);
    expect(listed.connections[0]).toMatchObject({
      connectionId: expect.any(String),
      participantId: "agent-a",
      privilege: "restricted",
      connectedAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT/),
    });
    const { body: promoted } = await server.call("POST", "/admin/participants/agent-a/promote", admin);
    expect(promoted).toEqual({
      participantId: "agent-a",
      oldPrivilege: "restricted",
      newPrivilege: "full",
      promotedBy: expect.any(String),
      promotedAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT/),
    });
  });

  test("[AC-6-2] ADR-003: tool_call_blocked, and the printed call never reaches its owner", async () => {
    const topic = "room:test";
    const server = await start({ gateway: { topics: { [topic]: { toolAccess: "enforce" } } } });
    const owner = await enter(server, "agent-b", v0);
    const caller = await enter(server, "agent-a", v0);
    await owner.event("join");
    caller.ws.send(textOf(adr003, "ADR-003, 4: a call with the capability"));
    expect(await caller.answer("msg-103")).toMatchObject({
      kind: "mcp",
      payload: { id: "tool-call-1", error: { code: -32003 } },
    });
    expect(await caller.event("tool_call_blocked")).toMatchObject({
      protocol: "mcp-x/v0",
      from: "system:gateway",
      to: ["agent-a"],
      kind: "system",
      payload: {
        type: "tool_call_blocked",
        reason: expect.any(String),
        suggestion: expect.any(String),
      },
    });
    expect(await owner.taken()).toEqual([]);
  });

  test("[X1-4.4-1] [AC-11-1] ADR-003, alternative 5: welcome with tokenType, tools/request without id, tool_request_pending", async () => {
    const server = await start({ gateway: { compat: { toolsRequest: true } } });
    const user = await enter(server, "user-1", v0);
    const agent = await enter(server, "agent-a", { ...v0, level: "restricted" });
    const fields = { type: "welcome", tokenType: "restricted", participantId: "agent-a" };
    expect(agent.welcome.payload).toMatchObject({ event: "welcome", ...fields });
    expect(user.welcome.payload).toMatchObject({ tokenType: "full", participantId: "user-1" });
    const responder = await enter(server, "agent-c", { ...v0, level: "responder" });
    expect(responder.welcome.payload.tokenType).toBe("restricted");
    agent.ws.send(toolsRequest.text);
    expect(await user.event("tool_request_pending")).toMatchObject({
      protocol: "mcp-x/v0",
      from: "system:gateway",
      kind: "system",
      payload: {
        type: "tool_request_pending",
        requester: "agent-a",
        target: "agent-b",
        tool: "dangerous_operation",
        arguments: { target: "staging" },
        requestId: "req-123",
      },
    });
  });

  test("[X1-4.4-1] without compat the welcome has one discriminator and no second names", async () => {
    const server = await start();
    const { payload } = (await enter(server, "agent-a", { ...v0, level: "restricted" })).welcome;
    for (const name of ["type", "tokenType", "participantId"]) expect(payload).not.toHaveProperty(name);
  });
});
