import { expect, test } from "vitest";
import { createLogger, type LoggerOptions } from "./log.ts";
import { prettyLine } from "./pretty-line.ts";

const jws = "eyJhbGciOiJFZERTQSJ9.eyJzdWIiOiJhbGljZSJ9.c2lnbmF0dXJl";

function capture(options: Partial<LoggerOptions> = {}) {
  const lines: string[] = [];
  const destination = { write: (line: string) => void lines.push(line) };
  return { log: createLogger({ level: "trace", destination, ...options }), lines };
}

test("a line is one JSON object with level, time and message", () => {
  const { log, lines } = capture();
  log.info({ topic: "demo" }, "joined");
  expect(lines).toHaveLength(1);
  expect(JSON.parse(lines[0] ?? "")).toEqual({
    level: 30,
    time: expect.any(Number),
    topic: "demo",
    msg: "joined",
  });
});

test("lines under the level are not written", () => {
  const { log, lines } = capture({ level: "warn" });
  log.info("quiet");
  log.warn("loud");
  expect(lines).toHaveLength(1);
});

test("secrets are taken out by their key, at any usual depth", () => {
  const { log, lines } = capture();
  const canary = "canary-value";
  for (const key of ["authorization", "token", "ticket", "proof", "capability", "cookie", "set-cookie"]) {
    log.info({ [key]: canary });
    log.info({ headers: { [key]: canary } });
    log.info({ request: { headers: { [key]: canary } } });
    log.info({ a: { request: { headers: { [key]: canary } } } });
    log.child({ [key]: canary }).info("child");
    log
      .child({ a: 1 })
      .child({ headers: { [key]: canary } })
      .info("grandchild");
    log.info("interpolated %j", { headers: { [key]: canary } });
    log.error({ err: Object.assign(new Error("failed"), { [key]: canary }) });
  }
  log.info({ jwk: { kty: "OKP", d: canary } });
  log.info({ key: { jwk: { d: canary } } });
  log.info({ cnf: { key: { jwk: { d: canary } } } });
  expect(lines).toHaveLength(59);
  expect(lines.join("")).not.toContain(canary);
});

test("redacting leaves what was logged as it was, and ends on circles", () => {
  const { log, lines } = capture();
  const circle: Record<string, unknown> = { token: "x", at: new Date(0), list: [{ proof: 1 }] };
  circle.self = circle;
  log.info(circle);
  expect(circle.token).toBe("x");
  expect(JSON.parse(lines[0] ?? "")).toMatchObject({
    token: "[secret]",
    at: "1970-01-01T00:00:00.000Z",
    list: [{ proof: "[secret]" }],
  });
});

test("a token is cut out of messages, fields, errors and child bindings", () => {
  const { log, lines } = capture();
  log.info(`got ${jws}`);
  log.info("got %s", jws);
  log.info({ a: { b: { c: { d: { e: jws } } } } });
  log.error({ err: new Error(`bad token ${jws}`, { cause: new Error(jws) }) });
  log.error(new Error(jws));
  log.child({ who: jws }).info("child");
  expect(lines).toHaveLength(6);
  expect(lines.join("")).not.toContain("eyJ");
});

test("a terminal gets one short line", () => {
  const line = JSON.stringify({ level: 30, time: Date.now(), topic: "demo", id: "alice", msg: "joined" });
  expect(prettyLine(line)).toMatch(/^\d\d:\d\d:\d\d info {2}joined {2}topic=demo id=alice\n$/);
  const { log, lines } = capture({ pretty: true });
  log.warn({ reason: "too slow" }, "closed");
  expect(lines[0]).toMatch(/^\d\d:\d\d:\d\d warn {2}closed {2}reason="too slow"\n$/);
  expect(prettyLine("not json\n")).toBe("not json\n");
});

test("an error's stack follows its line", () => {
  const { log, lines } = capture({ pretty: true });
  log.error({ err: new Error("broken") }, "failed");
  expect(lines[0]).toMatch(/error failed\n {2}Error: broken\n {6}at /);
});

test("a stranger's text cannot steer the terminal", () => {
  const { log, lines } = capture({ pretty: true });
  log.info({ name: "\u001b[2Jx\u202e", "k\u001b": 1 }, "hi\u001b[31m\u009b\nforged line");
  expect(lines[0]?.trimEnd()).not.toMatch(/[\p{Cc}\p{Cf}]/u);
});
