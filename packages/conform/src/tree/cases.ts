// What a tree does for a subserver that registers and for a client that calls it, one case for each promise.
import { randomUUID } from "node:crypto";
import { isDeepStrictEqual } from "node:util";
import type { Seen } from "../rooms/room-member.ts";
import { openRegistrant, type RpcAnswer, registration } from "./registrant.ts";
import { harmless, type Stand, tool } from "./stand.ts";

export interface TreeCase {
  title: string;
  run(stand: Stand): Promise<void>;
}

function expect(isSo: boolean, what: string, seen?: unknown): asserts isSo {
  if (!isSo) throw new Error(seen === undefined ? what : `${what}; seen: ${JSON.stringify(seen)}`);
}

const wrongFields: readonly [field: string, value: unknown][] = [
  ["subserver_id", "not-a-uuid"],
  ["subserver_id", undefined],
  ["segment", "Two Words"],
  ["segment", 7],
  ["segment", "a.b"],
  ["capabilities", { tools: "yes" }],
  ["heartbeat_interval_ms", "5000"],
  ["heartbeat_interval_ms", -1],
  ["transport_class", "pigeon"],
  ["version", "1999-01-01"],
];

export const treeCases: readonly TreeCase[] = [
  {
    title: "[AX-6.1-1] [AX-6.2-1] A registration as the draft prints it is answered with all its fields",
    async run(stand) {
      const registrant = await stand.visitor();
      const { result } = await registrant.ask("mcpax/register", registration(stand.segment));
      expect(result?.status === "registered", "status is not registered", result);
      expect(result.assigned_segment === stand.segment, "assigned_segment is another", result);
      expect(typeof result.session_id === "string", "there is no session_id", result);
      expect(result.heartbeat_deadline_ms === 15_000, "the deadline is not three intervals", result);
      expect(typeof result.budget === "object", "there is no budget", result);
    },
  },
  {
    title: "[AX-6.1-2] A registration with a wrong field is refused with -32602, and the field is named",
    async run(stand) {
      for (const [field, value] of wrongFields) {
        const registrant = await stand.visitor();
        const params = JSON.parse(JSON.stringify({ ...registration(stand.segment), [field]: value }));
        const { error } = await registrant.ask("mcpax/register", params);
        expect(
          error?.code === -32602,
          `${field} = ${JSON.stringify(value)} is not refused with -32602`,
          error,
        );
        expect(JSON.stringify(error).includes(field), `the refusal does not name ${field}`, error);
      }
    },
  },
  {
    title: "[AX-4.2-1] The first registration of a segment stays, the second is a namespace_conflict",
    async run(stand) {
      await stand.subserver();
      const second = await stand.visitor({
        token: await stand.target.mint({ sub: "conform-other", segment: stand.segment, scope: "read" }),
      });
      const { error } = await second.ask("mcpax/register", registration(stand.segment));
      expect(error !== undefined, "the second is registered too");
      expect(error.data?.reason === "namespace_conflict", "data.reason is not namespace_conflict", error);
      await stand.awaited(await stand.caller(), "status");
    },
  },
  {
    title: "[B-REG-1] A token that names another segment, or none, registers nothing",
    async run(stand) {
      const tokens = [
        await stand.target.mint({ sub: "conform-narrow", segment: `${stand.segment}-other`, scope: "write" }),
        await stand.target.mint({ sub: "conform-guest", topics: ["conform"], level: "restricted" }),
      ];
      for (const token of tokens) {
        const registrant = await stand.visitor({ token });
        const { result } = await registrant.ask("mcpax/register", registration(stand.segment));
        expect(result === undefined, "it is registered", result);
      }
      const refusal = await openRegistrant(stand.target, { token: undefined, tools: [] }).then(
        () => "opened",
        (error: Error) => error.message,
      );
      expect(refusal.endsWith("401"), "without a token /ax does not answer 401", refusal);
    },
  },
  {
    title: "[AX-3.1-1] [AX-5.1-1] The tools of a subserver are listed under its segment",
    async run(stand) {
      await stand.subserver({ tools: [tool("status", harmless), tool("reading", harmless)] });
      const caller = await stand.caller();
      await stand.awaited(caller, "status");
      await stand.awaited(caller, "reading");
    },
  },
  {
    title: "[AX-4.3-1] A tool with a dot in its name is left out, and the others stay",
    async run(stand) {
      await stand.subserver({ tools: [tool("status", harmless), tool("root.shell", harmless)] });
      const caller = await stand.caller();
      await stand.awaited(caller, "status");
      const names = (await caller.tools()).map(({ name }: Seen) => name as string);
      const dotted = names.filter((name) => name.includes(`${stand.segment}.root`));
      expect(dotted.length === 0, "the dotted name is listed", dotted);
    },
  },
  {
    title:
      "[AX-5.2-1] [AX-7.2-3] A call reaches its subserver with its own name and arguments; the result is unchanged",
    async run(stand) {
      const result = {
        content: [{ type: "text", text: "7" }],
        structuredContent: { n: 7, deep: [{ a: null }] },
      };
      const registrant = await stand.subserver({ result });
      const caller = await stand.caller();
      const { name } = await stand.awaited(caller, "status");
      const given = { text: "ü", list: [1, 2.5, false, null], nested: { deep: {} } };
      const answer = await caller.ask("tools/call", { name, arguments: given });
      const [call] = registrant.calls;
      expect(registrant.calls.length === 1, "it did not arrive once", registrant.calls);
      expect(call.name === "status", "the subserver was called by another name", call);
      expect(isDeepStrictEqual(call.arguments, given), "the arguments are others", call);
      const { _meta, ...rest } = answer.result ?? {};
      expect(isDeepStrictEqual(rest, result), "the result is another", answer);
    },
  },
  {
    title: "[AX-5.2-2] A tool that is not there is -32601",
    async run(stand) {
      const caller = await stand.caller();
      const { error } = await caller.ask("tools/call", { name: `${stand.segment}.nothing`, arguments: {} });
      expect(error?.code === -32601, "the answer is another", error);
    },
  },
  {
    title: "[AX-9.2-1] [AX-9.2-3] An annotation arrives as its subserver wrote it, one hop away",
    async run(stand) {
      const said = { ...harmless, latency_class: "standard", "vendor.example/batch": { size: 3 } };
      await stand.subserver({ tools: [tool("status", said)] });
      const { _meta } = await stand.awaited(await stand.caller(), "status");
      const shown = _meta?.["x-mcpax-capability"];
      expect(isDeepStrictEqual(shown, said), "x-mcpax-capability is another", shown);
      expect(_meta["x-mcpax-hops"] === 1, "x-mcpax-hops is not 1", _meta);
    },
  },
  {
    title:
      "[AX-11.2-1] [AX-11.3-1] What cannot be undone is marked, and waits at a gate instead of being done",
    async run(stand) {
      const dangerous = {
        ...harmless,
        mutable: true,
        reversible: false,
        idempotent: false,
        auth_scope: "write",
      };
      const registrant = await stand.subserver({ tools: [tool("release", dangerous)] });
      const caller = await stand.caller();
      const { name, _meta } = await stand.awaited(caller, "release");
      expect(_meta?.["x-mcpax-safety"] === "irreversible_mutable", "x-mcpax-safety is missing", _meta);
      const { result, error } = await caller.ask("tools/call", { name, arguments: { n: 1 } });
      expect(registrant.calls.length === 0, "the call was made", registrant.calls);
      expect(error === undefined, "the call failed", error);
      const status = result.structuredContent?.status ?? result._meta?.["x-mcpax-confirmation"]?.status;
      expect(status === "confirmation_required", "status is not confirmation_required", result);
    },
  },
  {
    title: "[AX-6.3-3] A heartbeat of the own session is answered, one of another is refused",
    async run(stand) {
      const registrant = await stand.subserver();
      const { result } = await registrant.ask("mcpax/heartbeat", { session_id: registrant.session });
      expect(result !== undefined, "the heartbeat is refused");
      const { error } = await registrant.ask("mcpax/heartbeat", { session_id: randomUUID() });
      expect(error !== undefined, "a heartbeat of another session is answered");
    },
  },
  {
    title: "[AX-6.3-4] [AX-6.3-5] After mcpax/deregister the tools are gone within one heartbeat interval",
    async run(stand) {
      const registrant = await stand.subserver();
      const caller = await stand.caller();
      await stand.awaited(caller, "status");
      await registrant.ask("mcpax/deregister", { session_id: registrant.session });
      const leftAt = performance.now();
      while ((await stand.find(caller, "status")) !== undefined)
        expect(performance.now() - leftAt < 5_000, "it is still listed after 5 s");
    },
  },
  {
    title: "[AX-13.2-1] The tool of a subserver that was lost answers tool_degraded, or is gone",
    async run(stand) {
      const registrant = await stand.subserver();
      const caller = await stand.caller();
      const { name } = await stand.awaited(caller, "status");
      registrant.vanish();
      // A call that was on its way when the connection broke may say that instead.
      const lostAt = performance.now();
      let error: RpcAnswer["error"];
      do ({ error } = await caller.ask("tools/call", { name, arguments: {} }));
      while (error?.data?.reason === "server_lost" && performance.now() - lostAt < 5_000);
      const isGone = error?.code === -32601;
      const isDegraded = error?.code === -32002 && error.message === "tool_degraded";
      expect(isGone || isDegraded, "the answer is another", error);
      if (!isDegraded) return;
      expect(typeof error?.data?.since === "string", "there is no data.since", error);
      expect(typeof error?.data?.retry_after_ms === "number", "there is no data.retry_after_ms", error);
    },
  },
];
