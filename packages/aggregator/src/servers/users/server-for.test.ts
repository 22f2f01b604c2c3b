import { createLogger, createManualClock } from "@mcpx/host";
import { isObject, type JsonObject } from "@mcpx/protocol";
import { expect, test } from "vitest";
import type { Caller, Exchange } from "../../mcp/exchange.ts";
import { innerPrincipal, plainCaller } from "../../mcp/plain-caller.ts";
import { createFileCredentialStore } from "../../oauth/credential-store-files.ts";
import {
  type InProcessServer,
  inProcessServer,
  type Script,
  serverOptions,
} from "../../testing/in-process-server.ts";
import { scratch } from "../../testing/scratch.ts";
import { callerOf } from "../../testing/test-tree.ts";
import { createTree } from "../../tree/create-tree.ts";
import type { OpenServer } from "../server.ts";
import { personalOf } from "../server-origin.ts";
import { partsOf } from "../tree-state.ts";
import { endOwnOf, ensureServerFor, findServerFor } from "./server-for.ts";
import { noteUser, openSignIns, type Personal, type SignInState, tellChange } from "./sign-in-state.ts";
import { signOut } from "./sign-out.ts";
import { untilSignedIn } from "./until-signed-in.ts";
import { userCredentials } from "./user-credentials.ts";
import { userKey } from "./user-key.ts";

const issuer = "https://idp.example";
const url = "https://notes.example/mcp";

/** A tree with one server that says whose credentials it was opened with. */
async function setUp(more: { handle?: NonNullable<Script["handle"]> } = {}) {
  const clock = createManualClock();
  const log = createLogger({ level: "silent" });
  const store = await createFileCredentialStore(scratch());
  const signIns = await openSignIns({
    store,
    clock,
    log,
    secret: new Uint8Array(32),
    base: () => "http://127.0.0.1:1",
  });
  const closed: string[] = [];
  const opened: string[] = [];
  const inners: InProcessServer[] = [];
  const open =
    (credentials: { headers(): Promise<Record<string, string>> }): OpenServer =>
    async (opening, taker) => {
      const { authorization = "nobody" } = await credentials.headers();
      opened.push(authorization);
      const inner = inProcessServer({
        tools: [{ name: `of_${authorization.replace("Bearer ", "")}`, inputSchema: { type: "object" } }],
        ...more,
      });
      inners.push(inner);
      const link = await inner.open(opening, taker);
      const close = async () => {
        closed.push(authorization);
        await link.close();
      };
      return { ...link, close };
    };
  const options = serverOptions("notes", () => Promise.reject(new Error("shared")), {
    origin: { kind: "per-user", personal: { target: () => ({ url, config: {} }), open } },
  });
  const tree = createTree({
    name: "t",
    version: "1",
    servers: [options],
    clock,
    log,
    signIns,
    secret: new Uint8Array(32),
  });
  const front = tree.state.configured.get("notes")?.server as NonNullable<ReturnType<typeof ensureServerFor>>;
  const list = async (caller: Caller) => {
    const { tools } = await tree.handle(exchange(caller, "tools/list", {}));
    const names = (tools as JsonObject[]).map(({ name }) => String(name));
    return names.filter((name) => name.startsWith("notes."));
  };
  const enter = async (user: string, userIssuer = issuer) => {
    await store.write(userKey("notes", user), {
      issuer: "https://as.example",
      url,
      resource: url,
      client: { id: "c" },
      tokens: { access: user },
      userIssuer,
    });
    noteUser(signIns, "notes", user, userIssuer);
    tellChange(signIns, { server: "notes", user, isAtOnce: false });
  };
  return { tree, signIns, store, clock, front, list, enter, opened, closed, inners };
}

const as = (user: string, more: Partial<Caller["principal"]> = {}) =>
  callerOf({ principal: { id: user, issuer, jti: `token of ${user}`, ...more } });

function exchange(caller: Caller, method: string, params: JsonObject): Exchange {
  return {
    caller,
    method,
    params,
    wantsProgress: false,
    paramHeaders: undefined,
    signal: new AbortController().signal,
    notify: () => {},
    ask: () => Promise.reject(new Error("nobody answers")),
  };
}

test("everybody has their own of it, and whoever has not signed in the way to it", async () => {
  const { list, enter, front, opened } = await setUp();
  await enter("alice");
  expect(await list(as("alice"))).toEqual(["notes.of_alice"]);
  expect(await list(as("bob"))).toEqual(["notes.sign_in"]);
  await enter("bob");
  expect(await list(as("bob"))).toEqual(["notes.of_bob"]);
  expect(await list(as("alice"))).toEqual(["notes.of_alice"]);
  expect(opened).toEqual(["Bearer alice", "Bearer bob"]);
  expect(partsOf(front)).toHaveLength(2);
  expect(front.links.size + front.lists.size).toBe(0);
});

test("a user of the same name that another issuer vouches for is somebody else", async () => {
  const { list, enter } = await setUp();
  await enter("alice");
  expect(await list(as("alice", { issuer: "https://evil.example" }))).toEqual(["notes.sign_in"]);
  expect(await list(as("alice"))).toEqual(["notes.of_alice"]);
});

test("[AX-12-1] what one user's server says unasked is heard by that user, and by nobody else of any name", async () => {
  const { tree, list, enter, inners } = await setUp();
  const heard: string[] = [];
  const people = {
    alice: as("alice"),
    bob: as("bob"),
    "another alice": as("alice", { issuer: "https://evil.example" }),
  };
  for (const user of ["alice", "bob"]) await enter(user);
  for (const [who, caller] of Object.entries(people)) {
    await tree.subscribe(caller, { unasked: true }, (method, params) => {
      if (method === "notifications/message") heard.push(`${who}: ${params.data}`);
    });
    await list(caller);
  }
  const [alices, bobs] = inners;
  alices?.takers[0]?.notification("notifications/message", { level: "info", data: "for alice" });
  bobs?.takers[0]?.notification("notifications/message", { level: "info", data: "for bob" });
  await expect.poll(() => heard.toSorted()).toEqual(["alice: for alice", "bob: for bob"]);
});

test("a call that was approved after its caller left goes out in that caller's name", async () => {
  const { tree, enter, opened } = await setUp();
  await enter("alice");
  const caller = plainCaller(innerPrincipal("alice", ["notes.of_alice"]), "s");
  const result = await tree.handle(exchange(caller, "tools/call", { name: "notes.of_alice", arguments: {} }));
  expect(result).toMatchObject({ content: [{ type: "text" }] });
  expect(opened).toEqual(["Bearer alice"]);
});

test("a call that was approved signs in to nothing, and does not stand in its caller's way", async () => {
  const { tree, list, signIns } = await setUp();
  const caller = plainCaller(innerPrincipal("alice", ["notes.read"]), "s");
  const call = (by: Caller) => tree.handle(exchange(by, "tools/call", { name: "notes.read", arguments: {} }));
  await expect(call(caller)).rejects.toMatchObject({ code: "unknown_tool" });
  expect(await list(as("alice"))).toEqual(["notes.sign_in"]);
  const { structuredContent } = await call(as("alice"));
  const ticket = String((structuredContent as JsonObject).sign_in_url)
    .split("/")
    .at(-1);
  expect(signIns.tickets.find(ticket).person).toEqual({ name: "alice", issuer });
});

test("a tree above has none of it, whoever it says it is", async () => {
  const { list, enter } = await setUp();
  await enter("alice");
  expect(await list({ ...as("alice"), isParent: true })).toEqual([]);
});

test("what the server says to one user is told to nobody else", async () => {
  const { tree, enter } = await setUp();
  const heard: string[] = [];
  for (const user of ["alice", "bob"])
    await tree.subscribe(as(user), { toolsListChanged: true }, (method) => heard.push(`${user} ${method}`));
  await enter("alice");
  await expect.poll(() => heard).toEqual(["alice notifications/tools/list_changed"]);
});

test("what a user watches is watched on after they have signed in again, for them alone", async () => {
  const { tree, enter, front, inners, list } = await setUp();
  await enter("alice");
  await enter("bob");
  await list(as("bob"));
  const told: string[] = [];
  const wishes = { resourceSubscriptions: ["mcpx://notes/notes://mine"] };
  for (const user of ["alice", "bob"])
    await tree.subscribe(as(user), wishes, (method) => told.push(`${user} ${method}`));
  const watches = () => inners.map(({ watched }) => watched.at(-1)?.size ?? 0);
  expect(watches()).toEqual([1, 1]);
  await enter("alice");
  await expect.poll(watches).toEqual([1, 1, 1]);
  expect(partsOf(front)).toHaveLength(2);
  inners[2]?.takers[0]?.notification("notifications/resources/updated", { uri: "notes://mine" });
  await expect.poll(() => told).toEqual(["alice notifications/resources/updated"]);
});

test("a token that is revoked takes its conversations with it, and nobody else's", async () => {
  const { tree, list, enter, closed, opened } = await setUp();
  for (const user of ["alice", "bob"]) {
    await enter(user);
    await list(as(user));
  }
  endOwnOf(tree.state, "token of alice");
  await expect.poll(() => closed).toEqual(["Bearer alice"]);
  await list(as("bob"));
  expect(opened).toHaveLength(2);
  expect(await list(as("alice", { jti: "another" }))).toEqual(["notes.of_alice"]);
});

test.each([
  ["an operator's word ends what is under way at once", "admin", 1],
  ["what ended by itself lets it finish", undefined, 0],
])("%s", async (_, by, count) => {
  const never = new Promise<JsonObject>(() => {});
  const handle: Script["handle"] = ({ method }) => (method === "tools/call" ? never : (undefined as never));
  const { tree, signIns, enter, closed, inners } = await setUp({ handle });
  await enter("alice");
  const params = { name: "notes.of_alice", arguments: {} };
  void tree.handle(exchange(as("alice"), "tools/call", params)).catch(() => {});
  await expect.poll(() => inners[0]?.asked.at(-1)?.method).toBe("tools/call");
  await signOut(signIns, { server: "notes", user: "alice", by, why: "a test" });
  // Longer than a wish to close takes, and less than the five seconds a call has.
  await new Promise((resolve) => setTimeout(resolve, 200));
  expect(closed).toHaveLength(count);
});

test("no more users than there is room for have one at the same time; the longest unused goes", async () => {
  const { list, enter, front, closed } = await setUp();
  await enter("alice");
  await list(as("alice"));
  for (let i = 0; i < 255; i += 1) await list(as(`user-${i}`));
  // Used again: it is not the oldest any more.
  await list(as("alice"));
  for (let i = 255; i < 300; i += 1) await list(as(`user-${i}`));
  expect(partsOf(front)).toHaveLength(256);
  expect(front.byUser.has("alice")).toBe(true);
  expect(front.byUser.has("user-0")).toBe(false);
  for (let i = 300; i < 600; i += 1) await list(as(`user-${i}`));
  expect(front.byUser.has("alice")).toBe(false);
  await expect.poll(() => closed).toContain("Bearer alice");
  expect(await list(as("alice"))).toEqual(["notes.of_alice"]);
});

test("what nobody has used for ten minutes ends when the next one comes", async () => {
  const { list, enter, front, clock, closed } = await setUp();
  await enter("alice");
  await list(as("alice"));
  clock.advance(600_000);
  await list(as("bob"));
  expect([...front.byUser.keys()]).toEqual(["bob"]);
  await expect.poll(() => closed).toEqual(["Bearer alice"]);
});

test("when the server goes, so does everybody's", async () => {
  const { tree, list, enter, closed } = await setUp();
  await enter("alice");
  await list(as("alice"));
  tree.change({ servers: [] });
  await expect.poll(() => closed).toEqual(["Bearer alice"]);
  expect(tree.state.isPersonal).toBe(false);
});

test("when the tree is closed, so is everybody's", async () => {
  const { tree, list, enter, closed } = await setUp();
  await enter("alice");
  await list(as("alice"));
  await tree.close();
  expect(closed).toEqual(["Bearer alice"]);
});

test("to look at a server that is one for each makes nobody's; to list it does", async () => {
  const { tree, list, enter, front } = await setUp();
  await enter("alice");
  const own = as("alice");
  await tree.describe(own);
  const { structuredContent } = await tree.handle(exchange(own, "tools/call", { name: "mcpax.status" }));
  expect(JSON.stringify(structuredContent)).toContain('"name":"notes"');
  expect(findServerFor(tree.state, front, own)).toBeUndefined();
  expect(front.byUser.size).toBe(0);
  await list(own);
  expect(findServerFor(tree.state, front, own)).toBe(ensureServerFor(tree.state, front, own));
  expect(findServerFor(tree.state, front, as("bob"))).toBeUndefined();
  expect([...front.byUser.keys()]).toEqual(["alice"]);
});

test("without sign-ins nobody has any of it", async () => {
  const { tree } = await setUp();
  const state = { ...tree.state, signIns: undefined };
  const [front] = [...state.configured.values()].map(({ server }) => server);
  const own = ensureServerFor(state, front as NonNullable<typeof front>, as("alice"));
  expect(own.origin.kind).toBe("sign-in");
  const link = await own.open({} as never, {} as never);
  expect(await link.request({ method: "tools/list" } as never)).toEqual({ tools: [] });
});

test("credentials that were renewed while their user signed out are not kept", async () => {
  const { signIns, store, enter, front } = await setUp();
  await enter("alice");
  const personal = personalOf(front) as Personal;
  const person = { name: "alice", issuer };
  const written: string[] = [];
  const spied: SignInState = {
    ...signIns,
    store: {
      ...store,
      write: async (key, credential) => {
        written.push(`${key} ${isObject(credential) ? "kept" : "removed"}`);
        await store.write(key, credential);
      },
    },
  };
  const one = userCredentials(spied, { server: "notes", personal, person });
  expect(userCredentials(spied, { server: "notes", personal, person })).toBe(one);
  expect(await one.headers()).toEqual({ authorization: "Bearer alice" });
  await signOut(spied, { server: "notes", user: "alice", by: "admin", why: "wanted" });
  expect(written).toEqual(['["user","notes","alice"] removed']);
  expect(await signOut(spied, { server: "notes", user: "alice", by: "admin", why: "wanted" })).toBe(false);
  await enter("alice");
  expect(userCredentials(spied, { server: "notes", personal, person })).not.toBe(one);
});

test("waiting for a sign-in ends with it, with time, or with whoever waits", async () => {
  const { signIns, enter } = await setUp();
  const person = { name: "alice", issuer };
  const { signal } = new AbortController();
  const short = { server: "notes", person, ms: 1, signal };
  expect(await untilSignedIn(signIns, short)).toBe(false);
  const gone = new AbortController();
  const given = untilSignedIn(signIns, { ...short, ms: 60_000, signal: gone.signal });
  gone.abort(new Error("left"));
  await expect(given).rejects.toThrow();
  const waited = untilSignedIn(signIns, { ...short, ms: 60_000 });
  await enter("bob");
  await enter("alice");
  expect(await waited).toBe(true);
  expect(await untilSignedIn(signIns, short)).toBe(true);
  // The tree's own listener stays.
  expect(signIns.listeners.size).toBe(1);
});
