import { expect, test } from "vitest";
import { inProcessServer, serverOptions } from "../testing/in-process-server.ts";
import { callerOf, testTree } from "../testing/test-tree.ts";

const ownTools = ["mcpax.notifications_dropped", "mcpax.routes", "mcpax.status", "mcpax.subservers"];
const tool = (name: string, more: object = {}) => ({ name, inputSchema: { type: "object" }, ...more });

function names(result: { [key: string]: unknown }, key = "tools", field = "name"): unknown[] {
  return (result[key] as { [key: string]: unknown }[]).map((item) => item[field]);
}

test("[AX-5.1-1] tools of all servers are one list, in the order of their names, with their servers' segments", async () => {
  const b = inProcessServer({ tools: [tool("z"), tool("a")] });
  const a = inProcessServer({ tools: [tool("m")] });
  const { ask } = testTree([serverOptions("b", b.open), serverOptions("a", a.open)]);
  const result = await ask("tools/list");
  expect(names(result)).toEqual(["a.m", "b.a", "b.z", ...ownTools]);
  expect(result).toMatchObject({ resultType: "complete", cacheScope: "private" });
  expect(result.ttlMs).toBeLessThanOrEqual(60_000);
});

test("[AX-5.1-1] a list is asked for once in 60 s, and again after list_changed", async () => {
  const tools = [tool("one")];
  const server = inProcessServer({ tools });
  const { ask, clock } = testTree([serverOptions("s", server.open)]);
  const lists = () => server.asked.filter(({ method }) => method === "tools/list").length;
  await Promise.all([ask("tools/list"), ask("tools/list")]);
  clock.advance(59_999);
  await ask("tools/list");
  expect(lists()).toBe(1);
  clock.advance(2);
  await ask("tools/list");
  expect(lists()).toBe(2);
  tools.push(tool("two"));
  server.takers[0]?.notification("notifications/tools/list_changed", {});
  expect(names(await ask("tools/list"))).toContain("s.two");
  expect(lists()).toBe(3);
});

test.each([
  ["another one", 1],
  ["control: the same", 0],
])(
  "[AX-12-1] a list that is said to change while it is read, and is %s, is told so often",
  async (becomes, often) => {
    let listed = "before";
    let opened = Promise.withResolvers<void>();
    opened.resolve();
    const server = inProcessServer({
      handle: async ({ method }) => {
        if (method !== "tools/list") return undefined as never;
        const items = [tool(listed)];
        await opened.promise;
        return { tools: items };
      },
    });
    const { tree, ask, clock } = testTree([serverOptions("s", server.open)]);
    let told = 0;
    const hears = () => {
      told += 1;
      return true;
    };
    await tree.subscribe(callerOf({ caller: { key: "hearer" } }), { toolsListChanged: true }, hears);
    await ask("tools/list");
    clock.advance(60_001);
    opened = Promise.withResolvers();
    const reading = ask("tools/list");
    await expect.poll(() => server.asked.filter(({ method }) => method === "tools/list").length).toBe(2);
    if (often > 0) listed = "after";
    server.takers[0]?.notification("notifications/tools/list_changed", {});
    opened.resolve();
    expect(names(await reading)).toContain(`s.${listed}`);
    // Timers end in the order of their times: news that waits to be told is told before this one.
    await new Promise((resolve) => setTimeout(resolve, 60));
    expect({ becomes, told }).toEqual({ becomes, told: often });
  },
);

test("a server's own time to live counts, and the merged list lives as long as the shortest", async () => {
  const short = inProcessServer({
    handle: ({ method }) =>
      method === "tools/list" ? { tools: [tool("t")], ttlMs: 5_000 } : (undefined as never),
  });
  const long = inProcessServer({ tools: [tool("t")] });
  const { ask, clock } = testTree([serverOptions("short", short.open), serverOptions("long", long.open)]);
  expect((await ask("tools/list")).ttlMs).toBe(5_000);
  clock.advance(4_000);
  expect((await ask("tools/list")).ttlMs).toBe(1_000);
});

test("[AX-5.1-1] a server that hangs delays the list by its own time and no more; the others are there", async () => {
  const hangs = inProcessServer({ handle: () => new Promise<never>(() => {}) });
  const well = inProcessServer({ tools: [tool("t")] });
  const { ask } = testTree([
    serverOptions("hangs", hangs.open, { listMs: 50 }),
    serverOptions("well", well.open),
  ]);
  expect(names(await ask("tools/list"))).toContain("well.t");
});

test("a server that cannot be opened is not tried again at once, and is shown as down", async () => {
  let tries = 0;
  const dead = inProcessServer({
    opening() {
      tries += 1;
      throw new Error("no such file");
    },
  });
  const { ask, clock } = testTree([serverOptions("dead", dead.open)]);
  await ask("tools/list");
  await ask("tools/list");
  expect(tries).toBe(1);
  const status = await ask("tools/call", { name: "mcpax.status", arguments: {} });
  const servers = (status.structuredContent as { servers: { name: string; state: string }[] }).servers;
  expect(servers).toContainEqual(expect.objectContaining({ name: "dead", state: "down" }));
  clock.advance(1_001);
  await ask("tools/list");
  expect(tries).toBe(2);
});

test("pages follow the names, whatever comes and goes between them", async () => {
  const tools = Array.from({ length: 2_500 }, (_, i) => tool(`t${String(i).padStart(5, "0")}`));
  const server = inProcessServer({ tools });
  const { ask } = testTree([serverOptions("s", server.open)]);
  const first = await ask("tools/list");
  expect(names(first)).toHaveLength(1_000);
  // The last one shown goes away, and one comes before it.
  tools.splice(995, 1);
  tools.push(tool("t00000a"));
  server.takers[0]?.notification("notifications/tools/list_changed", {});
  const second = await ask("tools/list", { cursor: first.nextCursor });
  const third = await ask("tools/list", { cursor: second.nextCursor });
  const rest = [...names(second), ...names(third)];
  expect(rest).toHaveLength(1_500 + ownTools.length);
  expect(third.nextCursor).toBeUndefined();
  expect(new Set([...names(first), ...rest]).size).toBe(2_500 + ownTools.length);
});

test.each([["nonsense"], [5], [""], [Buffer.from("x").toString("base64url")]])(
  "a cursor that is none of ours, %j, is a clear error",
  async (cursor) => {
    const { ask } = testTree([]);
    await expect(ask("tools/list", { cursor })).rejects.toMatchObject({ code: "bad_params" });
  },
);

test("a server whose pages go round in a circle or never end is left out and does no harm", async () => {
  let page = 0;
  const circle = inProcessServer({
    handle: ({ method }) => (method === "tools/list" ? { tools: [tool("a")], nextCursor: "again" } : {}),
  });
  const endless = inProcessServer({
    handle: ({ method }) =>
      method === "tools/list" ? { tools: [tool(`t${page++}`)], nextCursor: `c${page}` } : {},
  });
  const well = inProcessServer({ tools: [tool("t")] });
  const { ask } = testTree([
    serverOptions("circle", circle.open),
    serverOptions("endless", endless.open),
    serverOptions("well", well.open),
  ]);
  expect(names(await ask("tools/list"))).toEqual([...ownTools, "well.t"]);
});

test("[AX-4.1-1] two names that would fall together both work, and a name listed twice counts once", async () => {
  const server = inProcessServer({ tools: [tool("getIt"), tool("get_it"), tool("get_it"), tool("get it")] });
  const { ask } = testTree([serverOptions("s", server.open)]);
  const listed = names(await ask("tools/list", {}, { tools: ["s.*"] }));
  expect(listed).toHaveLength(3);
  for (const name of listed) await ask("tools/call", { name });
  const called = server.asked
    .filter(({ method }) => method === "tools/call")
    .map(({ params }) => params.name);
  expect(called.sort()).toEqual(["get it", "getIt", "get_it"]);
});

test("[AX-4.1-2] a name that is too long with its prefix is left out and reported; the rest stays", async () => {
  const long = Array.from({ length: 4 }, () => "a".repeat(63)).join(".");
  const server = inProcessServer({
    capabilities: { extensions: { "org.mcpax/aggregator": {} } },
    tools: [tool(long), tool("ok")],
  });
  const { ask } = testTree([serverOptions("s", server.open)]);
  expect(names(await ask("tools/list", {}, { tools: ["s.**"] }))).toEqual(["s.ok"]);
  const status = await ask("tools/call", { name: "mcpax.status" });
  const [entry] = (status.structuredContent as { servers: { left_out: string[] }[] }).servers.filter(
    ({ left_out }) => left_out.length > 0,
  );
  expect(entry?.left_out[0]).toContain("longer than 255");
});

test("[AX-9.2-1] [AX-9.2-3] annotations go up as they are, with the number of trees passed", async () => {
  const capability = { mutable: false, reversible: true, auth_scope: "read", latency_class: "slow" };
  const server = inProcessServer({
    tools: [
      tool("plain"),
      tool("far", { _meta: { other: 1, "x-mcpax-capability": capability, "x-mcpax-hops": 2 } }),
    ],
  });
  const { ask } = testTree([serverOptions("s", server.open, { isTrusted: true })]);
  const listed = (await ask("tools/list", {}, { tools: ["s.*"] })).tools as { _meta: object }[];
  expect(listed[0]?._meta).toMatchObject({ other: 1, "x-mcpax-hops": 3, "x-mcpax-capability": capability });
  expect(listed[1]?._meta).toMatchObject({ "x-mcpax-hops": 1, "x-mcpax-safety": "irreversible_mutable" });
  expect(listed[0]?._meta).not.toHaveProperty("x-mcpax-safety");
});

test("unknown fields, icons and schemas of a tool pass as they are", async () => {
  const whole = tool("t", {
    title: "T",
    icons: [{ src: "data:," }],
    inputSchema: { $schema: "x", $defs: { a: {} }, type: "object", "x-own": 1 },
    outputSchema: { type: "object" },
    execution: { taskSupport: "optional" },
    annotations: { readOnlyHint: true, own: "x" },
    "x-future": { deep: [1] },
  });
  const server = inProcessServer({ tools: [whole] });
  const { ask } = testTree([serverOptions("s", server.open)]);
  const [listed] = (await ask("tools/list", {}, { tools: ["s.*"] })).tools as object[];
  expect(listed).toMatchObject({ ...whole, name: "s.t" });
});

test("a token shows what its globs cover and nothing else; without tools it shows nothing", async () => {
  const server = inProcessServer({
    tools: [tool("read"), tool("write")],
    prompts: [{ name: "p" }],
    resources: [{ uri: "x://1", name: "x" }],
  });
  const { ask } = testTree([serverOptions("s", server.open), serverOptions("t", server.open)]);
  expect(names(await ask("tools/list", {}, { tools: ["s.read"] }))).toEqual(["s.read"]);
  expect(names(await ask("tools/list", {}, { tools: ["*.write"] }))).toEqual(["s.write", "t.write"]);
  expect(names(await ask("tools/list", {}, { tools: [] }))).toEqual([]);
  const bound = { tools: ["**"], principal: { toolBounds: ["t.*"] } };
  expect(names(await ask("tools/list", {}, bound))).toEqual(["t.read", "t.write"]);
  const profile = { name: "p", tools: ["s.*"] };
  expect(names(await ask("tools/list", {}, { tools: ["*.read"], caller: { profile } }))).toEqual(["s.read"]);
  expect(names(await ask("prompts/list", {}, { tools: ["s.read"] }), "prompts")).toEqual([]);
  expect(names(await ask("prompts/list", {}, { tools: ["s.p"] }), "prompts")).toEqual(["s.p"]);
  const resources = (tools: string[]) => ask("resources/list", {}, { tools });
  expect(names(await resources(["s.read"]), "resources", "uri")).toEqual([]);
  expect(names(await resources(["s.resources"]), "resources", "uri")).toEqual(["mcpx://s/x://1"]);
});

test("clients that refuse dots see names they take, and can call by them", async () => {
  const server = inProcessServer({ tools: [tool("read"), tool("a".repeat(63))] });
  const { ask } = testTree([serverOptions("files", server.open), serverOptions("files__read", server.open)]);
  for (const dialect of ["safe", "strict"] as const) {
    const caller = { caller: { dialect } };
    const listed = names(await ask("tools/list", {}, caller)) as string[];
    expect(listed).toHaveLength(4 + ownTools.length);
    expect(new Set(listed).size).toBe(4 + ownTools.length);
    for (const name of listed) {
      expect(name).toMatch(/^[a-z][a-z0-9_-]{0,63}$/);
      await ask("tools/call", { name }, caller);
    }
    await ask("tools/call", { name: "files.read" }, caller);
  }
});

test("[AX-3.1-1] what is mounted at the root keeps its names and shadows nothing", async () => {
  const root = inProcessServer({ tools: [tool("getIt"), tool("s.t"), tool("own.dotted")] });
  const other = inProcessServer({ tools: [tool("t")] });
  const { ask } = testTree([
    serverOptions("root", root.open, { segment: undefined }),
    serverOptions("s", other.open),
  ]);
  const listed = names(await ask("tools/list"));
  expect(listed).toEqual(["getIt", ...ownTools, "own.dotted", "s.t"]);
  await ask("tools/call", { name: "s.t" });
  expect(other.asked.at(-1)).toMatchObject({ method: "tools/call", params: { name: "t" } });
  await ask("tools/call", { name: "getIt" });
  await ask("tools/call", { name: "own.dotted" });
  expect(root.asked.map(({ params }) => params.name).slice(-2)).toEqual(["getIt", "own.dotted"]);
});

test("who may use nothing of a server learns nothing of it at the endpoint", async () => {
  const secret = inProcessServer({
    tools: [tool("t")],
    instructions: "The vault is behind the painting.",
    capabilities: { extensions: { "vendor/vault": {} } },
  });
  const { tree, ask } = testTree([serverOptions("vault", secret.open)]);
  await ask("tools/list");
  const seen = async (tools: string[]) => JSON.stringify(await tree.describe(callerOf({ tools })));
  expect(await seen(["vault.t"])).toMatch(/# vault.*painting/);
  expect(await seen(["vault.t"])).toContain("vendor/vault");
  for (const tools of [[], ["other.*"], ["vault.u"]]) expect(await seen(tools)).not.toMatch(/vault|painting/);
});

test("instructions, prompts, resources and templates that hide text from people reach no model; control: the plain ones do", async () => {
  const hidden = "Read this.\u{E0053}\u{E0065}\u{E006E}\u{E0064}";
  const both = (of: (name: string, description: string) => object) => [
    of("plain", "Read this."),
    of("odd", hidden),
  ];
  const server = (instructions: string) =>
    inProcessServer({
      instructions,
      prompts: both((name, description) => ({ name, description })) as never,
      resources: both((name, description) => ({ uri: `x:${name}`, name, description })) as never,
      templates: both((name, description) => ({ uriTemplate: `x:${name}/{n}`, name, description })) as never,
    });
  const { tree, ask } = testTree([
    serverOptions("s", server(hidden).open),
    serverOptions("u", server("Ask the clerk.").open),
  ]);
  const kinds = {
    "prompts/list": "prompts",
    "resources/list": "resources",
    "resources/templates/list": "resourceTemplates",
  };
  for (const [method, key] of Object.entries(kinds)) {
    const text = JSON.stringify((await ask(method))[key]);
    expect([text.includes("plain"), text.includes("odd")]).toEqual([true, false]);
  }
  const { instructions } = await tree.describe(callerOf({ tools: ["**"] }));
  expect(instructions).toBe("# u\n\nAsk the clerk.");
  const { structuredContent } = await ask("tools/call", { name: "mcpax.status" });
  const said = JSON.stringify(structuredContent);
  for (const why of ["odd: its definition hides text", "its instructions: they hide text"])
    expect(said).toContain(why);
});

test("a call by a rendered name waits for no server but its own", async () => {
  const good = inProcessServer({ tools: [{ name: "t", inputSchema: { type: "object" } }] });
  let isSilent = false;
  const silent = inProcessServer({
    tools: [{ name: "u", inputSchema: { type: "object" } }],
    handle: ({ method }) =>
      method === "tools/list" && isSilent ? new Promise(() => {}) : (undefined as never),
  });
  const servers = [serverOptions("good", good.open), serverOptions("silent", silent.open)];
  const { ask, clock } = testTree(servers);
  const caller = { dialect: "safe" } as const;
  const { tools } = await ask("tools/list", {}, { caller });
  const names = (tools as { name: string }[]).map(({ name }) => name);
  expect(names).toEqual(expect.arrayContaining(["good__t", "silent__u"]));
  isSilent = true;
  clock.advance(3_600_000);
  expect(await ask("tools/call", { name: "good__t" }, { caller })).toMatchObject({
    content: [{ type: "text" }],
  });
  expect(good.asked.at(-1)?.params).toEqual({ name: "t" });
});
