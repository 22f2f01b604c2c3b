// A server that lies, floods, hangs or dies costs what it was asked, and nothing else.
import { innerPrincipal, plainCaller } from "@mcpx/aggregator";
import { isMcpxError, type JsonObject, McpxError } from "@mcpx/protocol";
import { expect, test } from "vitest";
import { hostile, openTo } from "./support/open.ts";

const eras = ["legacy", "modern"] as const;

async function fault(promise: Promise<unknown>): Promise<string> {
  return promise.then(
    (value) => `answered ${JSON.stringify(value)}`,
    (error: unknown) => (isMcpxError(error) ? `${error.code} ${error.detail}` : String(error)),
  );
}

test.each(eras)("%s: of two answers the first counts; the others are logged", async (era) => {
  const { call, logLines } = await openTo(hostile("--era", era));
  expect(await call("twice")).toBe(1);
  expect(await call("wrong-id")).toBe("right");
  await expect.poll(() => logLines.filter((line) => line.includes("nobody waits for"))).toHaveLength(3);
});

test.each(eras)("%s: nonsense between the lines harms nobody", async (era) => {
  const { call, logLines } = await openTo(hostile("--era", era));
  expect(await call("nonsense")).toBe("survived");
  expect(logLines).toContain("Listening on port 3000 …");
  expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
});

test.each(eras)("%s: answers that are none are `bad_server_answer`, and say whose", async (era) => {
  const { call } = await openTo(hostile("--era", era));
  for (const tool of ["no-result", "both", "string-result"]) {
    expect(await fault(call(tool))).toBe(
      "bad_server_answer near: its answer has neither a result nor an error",
    );
  }
});

test.each(eras)("%s: a server's own error passes as it is", async (era) => {
  const { call } = await openTo(hostile("--era", era));
  await expect(call("error")).rejects.toMatchObject({
    fault: { code: -32000, message: "own words", data: { a: [1] } },
  });
});

test.each(eras)("%s: dying, it loses what it was asked; what is asked then is not sent", async (era) => {
  const { link, call } = await openTo(hostile("--era", era));
  const hanging = call("hang");
  expect(await fault(call("die"))).toBe("server_lost near: exit code 7");
  expect(await fault(hanging)).toBe("server_lost near: exit code 7");
  expect(await link.ended).toBe("exit code 7");
  expect(await fault(call("x"))).toBe("server_unreachable near: exit code 7");
});

test.each(eras)("%s: a line of a gigabyte is never held, and costs its own answer only", async (era) => {
  const { call, logLines } = await openTo(hostile("--era", era), { limits: { messageBytesMax: 1_048_576 } });
  const before = process.memoryUsage().rss;
  let most = 0;
  const watching = setInterval(() => {
    most = Math.max(most, process.memoryUsage().rss);
  }, 10);
  expect(await fault(call("gigabyte", { megabytes: 1_024 }))).toBe(
    "bad_server_answer near: its answer has more than 1048576 bytes",
  );
  clearInterval(watching);
  expect((most - before) / 1_048_576).toBeLessThan(200);
  expect(logLines).toContain("(a message of more than 1048576 bytes was dropped)");
  expect(await call("echo")).toBe("echo");
});

test.each(eras)("%s: a flood of notifications is read slowly, and all of it", async (era) => {
  const { call, notifications, logLines } = await openTo(hostile("--era", era));
  expect(await call("flood")).toBe("flooded");
  expect(notifications).toHaveLength(20_000);
  expect(logLines).toEqual([]);
  expect(await call("echo")).toBe("echo");
});

test.each(eras)("%s: a flood of what belongs to a request is cut, and how much is said", async (era) => {
  const { call, logLines } = await openTo(hostile("--era", era));
  const heard: unknown[] = [];
  const notify = (_method: string, { progress }: JsonObject) => void heard.push(progress);
  expect(await call("chatter", {}, { wantsProgress: true, notify })).toBe("chattered");
  expect(heard.length).toBeLessThan(5_000);
  await expect.poll(() => logLines.join("\n"), { timeout: 5_000 }).toMatch(/\d{5} notifications dropped/);
});

test("what it writes beside the protocol is cut too", async () => {
  const { call, logLines } = await openTo(hostile());
  expect(await call("babble")).toBe("babbled");
  await expect.poll(() => logLines.join("\n"), { timeout: 5_000 }).toMatch(/\d{5} lines left out/);
  expect(logLines.length).toBeLessThan(1_000);
});

test("a server that does not read is not written to without end", async () => {
  const { call, ask } = await openTo(hostile(), { limits: { waitingBytesMax: 1_000_000 } });
  expect(await call("deaf")).toBe("not listening");
  const stop = new AbortController();
  const text = "x".repeat(300_000);
  const faults: string[] = [];
  for (let n = 0; n < 10; n += 1) {
    ask("tools/call", { name: "echo", text }, { signal: stop.signal }).catch((error: unknown) =>
      faults.push(isMcpxError(error) ? error.detail : String(error)),
    );
  }
  await expect.poll(() => faults).toContain("near: it does not read its input");
  stop.abort(new McpxError("timeout"));
});

test("only so many requests are in flight", async () => {
  const { call } = await openTo(hostile(), { limits: { inFlightMax: 3 } });
  const stop = new AbortController();
  const hanging = [1, 2, 3].map(() => fault(call("hang", {}, { signal: stop.signal })));
  expect(await fault(call("echo"))).toBe("server_unreachable near: it has too many requests to answer");
  stop.abort(new McpxError("timeout"));
  await Promise.all(hanging);
  expect(await call("echo")).toBe("echo");
});

test("of one principal's no more requests are in flight than are left for others", async () => {
  const { call } = await openTo(hostile(), { limits: { inFlightMax: 8 } });
  const stop = new AbortController();
  const callerOf = (name: string) => plainCaller(innerPrincipal(name, ["**"]), name);
  const greedy = { caller: callerOf("greedy"), signal: stop.signal };
  const hanging = [1, 2, 3, 4].map(() => fault(call("hang", {}, greedy)));
  expect(await fault(call("echo", {}, greedy))).toBe(
    "rate_limited near: it has 4 requests of yours to answer",
  );
  // Control: for others there is room.
  expect(await call("echo", {}, { caller: callerOf("neighbour") })).toBe("echo");
  stop.abort(new McpxError("timeout"));
  await Promise.all(hanging);
  expect(await call("echo", {}, { caller: callerOf("greedy") })).toBe("echo");
});

test("a caller that throws at what it is told harms nobody but itself", async () => {
  const { call, logLines } = await openTo(hostile());
  const notify = () => {
    throw new Error("of the caller's");
  };
  expect(await call("progress", {}, { wantsProgress: true, notify })).toMatchObject({});
  expect(logLines).toContainEqual(expect.stringContaining("of the caller's"));
});
