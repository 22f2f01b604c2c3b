// One principal, or a crowd of strangers, does not keep the others from being served.
import { once } from "node:events";
import { Agent, request } from "node:http";
import { connect, type Socket } from "node:net";
import { defaultLimits } from "@mcpx/protocol";
import { afterEach, expect, test } from "vitest";
import { bearerToken } from "./bearer.ts";
import { get, sendRaw, start, statusOf } from "./listener-cases.ts";
import type { Route } from "./routes.ts";

const open: { destroy(): void }[] = [];

afterEach(() => {
  for (const one of open.splice(0)) one.destroy();
});

/** Whoever shows a token is whom it names. */
const known =
  (handle: Route["handle"]): Route["handle"] =>
  (request) => {
    const id = bearerToken(request);
    request.belongsTo({ issuer: "test", id, jti: id });
    return handle(request);
  };

/** Serves work that takes long, and notes whose was done. */
function workshop() {
  const done: string[] = [];
  const takeLong = known((request) => {
    const until = performance.now() + 3;
    while (performance.now() < until);
    done.push(bearerToken(request));
    return { body: {} };
  });
  const routes: Route[] = [
    { method: "GET", path: "/work", handle: takeLong },
    { method: "POST", path: "/body", handle: known(async (request) => ({ text: await request.text() })) },
  ];
  return { done, routes };
}

function ask(port: number, agent: Agent, token: string): Promise<number | undefined> {
  const { promise, resolve, reject } = Promise.withResolvers<number | undefined>();
  const headers = { authorization: `Bearer ${token}` };
  request({ port, host: "127.0.0.1", path: "/work", headers, agent }, (response) => {
    response.resume().once("end", () => resolve(response.statusCode));
  })
    .once("error", reject)
    .end();
  return promise;
}

function agent(): Agent {
  const one = new Agent({ keepAlive: true });
  open.push(one);
  return one;
}

async function holdBack(port: number, text: string, count: number): Promise<Socket[]> {
  return await Promise.all(
    Array.from({ length: count }, async () => {
      const socket = connect(port, "127.0.0.1").on("error", () => {});
      open.push(socket);
      await once(socket, "connect");
      socket.write(text);
      return socket;
    }),
  );
}

const work = (token: string) =>
  ["GET /work HTTP/1.1", "Host: 127.0.0.1", `Authorization: Bearer ${token}`, "", ""].join("\r\n");

/** Forty requests of one principal and then one of `other`, all there at once: how many were done before that one? */
async function doneBefore(other: string): Promise<number> {
  const { done, routes } = workshop();
  const { port } = await start({ routes });
  const answered = (sockets: Socket[]) => Promise.all(sockets.map((socket) => once(socket, "data")));
  const busy = await holdBack(port, work("busy"), 40);
  await answered(busy);
  const [last] = await holdBack(port, work(other), 1);
  if (last === undefined) throw new Error("one was asked for");
  await answered([last]);
  done.length = 0;
  const answers = answered([...busy, last]);
  const answer = once(last, "data");
  for (const socket of busy) socket.write(work("busy"));
  last.write(work(other));
  await answer;
  const before = done.length - 1;
  await answers;
  expect(done).toHaveLength(41);
  return before;
}

test("[B-FAIR-1] one request of another is served before the many of one who came first", async () => {
  expect(await doneBefore("light")).toBeLessThan(20);
});

test("control: of the same principal it waits for all that came before", async () => {
  expect(await doneBefore("busy")).toBeGreaterThan(35);
});

test("[B-FAIR-2] half requests of strangers hold no place: for a new one the oldest goes, and who showed a token stays", async () => {
  const { routes } = workshop();
  const limits = { ...defaultLimits, strangerSocketsMax: 20 };
  const { port } = await start({ routes, limits });
  const own = agent();
  expect(await ask(port, own, "me")).toBe(200);
  const [mine] = Object.values(own.freeSockets).flat();
  const strangers = await holdBack(port, "GET /work HTTP/1.1\r\nHost: 127.0.0.1\r\n", 60);
  const isGone = (socket: Socket) => (socket.closed ? undefined : once(socket, "close"));
  await Promise.all(strangers.slice(0, 40).map(isGone));
  expect(strangers.slice(-15).some(({ closed }) => closed)).toBe(false);
  expect(await ask(port, own, "me")).toBe(200);
  expect(Object.values(own.freeSockets).flat()).toEqual([mine]);
  const answer = await sendRaw(port, get("/work", ["Host: 127.0.0.1", "Authorization: Bearer other"]));
  expect(statusOf(answer)).toBe(200);
});

test("one principal has so many connections: for a new one its own oldest goes, nobody else's", async () => {
  const { routes } = workshop();
  const { port } = await start({ routes, limits: { ...defaultLimits, socketsPerPrincipalMax: 3 } });
  const others = agent();
  expect(await ask(port, others, "other")).toBe(200);
  const [oldest, ...rest] = await holdBack(port, work("many"), 1);
  if (oldest === undefined || rest.length > 0) throw new Error("one was asked for");
  await once(oldest, "data");
  const gone = once(oldest, "close");
  const later = await holdBack(port, work("many"), 3);
  await Promise.all(later.map((socket) => once(socket, "data")));
  await gone;
  expect(later.some(({ closed }) => closed)).toBe(false);
  const [kept] = Object.values(others.freeSockets).flat();
  expect(kept?.closed).toBe(false);
});

test("[B-FAIR-2] where the process may have few files open, whoever has most sockets gives way, and newcomers come in", async () => {
  const { routes } = workshop();
  // Of these 75 are for sockets: 11 for strangers, 22 for one principal.
  const { port } = await start({ routes, openFilesMax: 100 });
  const others = agent();
  expect(await ask(port, others, "other")).toBe(200);
  const [mine] = Object.values(others.freeSockets).flat();
  const crowd = await holdBack(port, "GET /work HTTP/1.1\r\nHost: 127.0.0.1\r\n", 100);
  for (const name of ["a", "b", "c", "d", "e", "a", "b", "c", "d", "e"]) {
    const sockets = await holdBack(port, work(name), 8);
    await Promise.all(sockets.map((socket) => once(socket, "data")));
    crowd.push(...sockets);
    expect(await ask(port, others, "other")).toBe(200);
  }
  expect(await ask(port, agent(), "newcomer")).toBe(200);
  const living = () => crowd.filter((socket) => !socket.closed).length;
  await expect.poll(living).toBeLessThan(75);
  expect(living()).toBeGreaterThan(60);
  expect(Object.values(others.freeSockets).flat()).toEqual([mine]);
});

test("[B-FAIR-2] unfinished bodies of one principal take a bounded part of the memory, and nobody else's", async () => {
  const { routes } = workshop();
  const bodyRoutes = routes.map((route) => ({ ...route, bodyBytesMax: 4_000_000 }));
  const limits = { ...defaultLimits, heldBytesPerPrincipalMax: 1_000_000 };
  const { port } = await start({ routes: bodyRoutes, limits });
  const head = (token: string, length: number) =>
    `POST /body HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ${token}\r\nContent-Length: ${length}\r\n\r\n`;
  const half = `${head("greedy", 800_000)}${"x".repeat(700_000)}`;
  await holdBack(port, half, 1);
  // Refused while another is on the way; which of the two depends on whose bytes are read first.
  const [second] = await holdBack(port, half, 1);
  const answers = await Promise.race([once(second as Socket, "data"), once(open.at(-2) as Socket, "data")]);
  expect(statusOf(String(answers[0]))).toBe(429);
  const whole = await sendRaw(
    port,
    `${head("modest", 700_000).replace("\r\n\r\n", "\r\nConnection: close\r\n\r\n")}${"y".repeat(700_000)}`,
  );
  expect(statusOf(whole)).toBe(200);
});

test("[B-FAIR-2] answers that nobody reads take a bounded part of the memory: whoever asks for more is cut off", async () => {
  let ended = 0;
  const large = known((request) => {
    request.onDone(() => {
      ended += 1;
    });
    return { text: "x".repeat(8_000_000) };
  });
  const limits = { ...defaultLimits, heldBytesPerPrincipalMax: 30_000_000, queueStallMs: 600_000 };
  const { port } = await start({ routes: [{ method: "GET", path: "/work", handle: large }], limits });
  await holdBack(port, work("greedy"), 12);
  await expect.poll(() => ended).toBe(9);
  // Control: others have theirs, and whoever reads has one after the other.
  const own = agent();
  for (let i = 0; i < 5; i += 1) expect(await ask(port, own, "modest")).toBe(200);
  expect(ended).toBe(14);
});

test("[B-FAIR-2] a body comes in many small pieces, and not in any number of them", async () => {
  const { routes } = workshop();
  const { port } = await start({ routes });
  const body = (pieces: number) =>
    sendRaw(
      port,
      `POST /body HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer small\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n${"1\r\nx\r\n".repeat(pieces)}0\r\n\r\n`,
    );
  const [good, bad] = await Promise.all([body(10_000), body(20_000)]);
  expect([statusOf(good), good.endsWith("x".repeat(10_000)), statusOf(bad)]).toEqual([200, true, 413]);
});

test("every body of one who sends many at once comes whole", async () => {
  const { routes } = workshop();
  const { port } = await start({ routes });
  const many = new Agent({ keepAlive: true, maxSockets: 32 });
  open.push(many);
  const echo = (text: string) => {
    const { promise, resolve, reject } = Promise.withResolvers<string>();
    const headers = { authorization: "Bearer many" };
    const options = { port, host: "127.0.0.1", method: "POST", path: "/body", headers, agent: many };
    request(options, (response) => {
      let answer = "";
      response.on("data", (chunk) => {
        answer += chunk;
      });
      response.once("end", () => resolve(answer));
    })
      .once("error", reject)
      .end(text);
    return promise;
  };
  const texts = Array.from({ length: 1_000 }, (_, i) => `${i}`.padEnd(i % 300, "x"));
  expect(await Promise.all(texts.map(echo))).toEqual(texts);
});

test("a body has no more values than people and programs write into so many bytes", async () => {
  const handle: Route["handle"] = async (request) => ({
    body: { length: ((await request.json()) as unknown[]).length },
  });
  const { port } = await start({ routes: [{ method: "POST", path: "/json", handle }] });
  const send = async (body: string) => {
    const headers = { "content-type": "application/json" };
    const response = await fetch(`http://127.0.0.1:${port}/json`, { method: "POST", headers, body });
    return { status: response.status, text: await response.text() };
  };
  const empties = await send(`[${"{},".repeat(21_000)}{}]`);
  expect([empties.status, empties.text.includes("too_many_values")]).toEqual([413, true]);
  const rules = Array.from({ length: 1_500 }, (_, i) => ({ tool: `server-${i}.*`, gate: "ask" }));
  expect(await send(JSON.stringify(rules))).toEqual({ status: 200, text: '{"length":1500}' });
});
