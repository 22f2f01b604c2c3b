// The same ideas where the approver's key is a plain file, as its owner allowed: what the column "plain" of
// docs/THREATS.md says of each. Where it says "neither", the call goes, or the change counts. [B-KEY-1] [B-KEY-2]
import { spawnSync } from "node:child_process";
import { createPrivateKey } from "node:crypto";
import { copyFileSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { statementKey, thumbprint } from "@mcpx/host";
import { type GateTerms, signStatement, statementOf } from "@mcpx/protocol";
import { expect, test } from "vitest";
import { visitBy } from "../console/support/visitor.ts";
import { mcpxCommand } from "../support/programs.ts";
import { newKey } from "./attacks/support/keys.ts";
import { type Gated, startGated } from "./support/gated.ts";
import { enrol } from "./support/give-grant.ts";
import { type Config, configOf, type Here, hereAt, inStore, withPapers } from "./support/shell-scene.ts";

interface Scene {
  gated: Gated;
  here: Here;
  /** The idea, which is also the paper of its call. */
  idea: string;
  /** Who calls: one for each idea, for of one caller only so many calls may wait. */
  caller: string;
  /** Of the call, which waits. */
  id: string;
}

interface Idea {
  becomes: "stopped" | "neither";
  play(scene: Scene): Promise<void>;
}

const stopped = (play: Idea["play"]): Idea => ({ becomes: "stopped", play });
const neither = (play: Idea["play"]): Idea => ({ becomes: "neither", play });

const fileOf = ({ dataDir }: Gated, ...path: string[]) => join(dataDir, ...path);
const went = ({ gated, idea }: Scene) => gated.traces().includes(traceOf(idea));
const traceOf = (paper: string) => `shred {"paper":"${paper}"}`;
const waiting = async ({ here, id }: Scene) => (await here("GET", `/admin/gates/${id}`)).body.status;
const signs = async ({ gated, id }: Scene) =>
  expect(await gated.run("approve", id, "--yes")).toMatchObject({ code: 0 });

/** What the agent reads from the plain file. */
async function plainProof({ gated, here, id }: Scene): Promise<string> {
  const jwk = JSON.parse(readFileSync(fileOf(gated, "keys", "default.jwk"), "utf8"));
  const key = statementKey(createPrivateKey({ key: jwk, format: "jwk" }), thumbprint(jwk));
  const terms = (await here("GET", `/admin/gates/${id}`)).body.terms as GateTerms;
  return signStatement(statementOf(terms, "approve"), key);
}

/** Writes a configuration that lets more pass, signs it with the plain key, and puts the old one back. */
const configured = (edit: (config: Config) => object, shown?: (scene: Scene) => Promise<void>): Idea =>
  neither(async (scene) => {
    const { gated } = scene;
    const before = readFileSync(configOf(gated), "utf8");
    writeFileSync(configOf(gated), JSON.stringify(edit(JSON.parse(before))));
    expect(await gated.run("config", "sign", "--yes")).toMatchObject({ code: 0, out: "signed: 1 change" });
    await shown?.(scene);
    writeFileSync(configOf(gated), before);
    await gated.run("config", "sign", "--yes");
    if (shown !== undefined) await others(scene, false);
  });

/** New calls go unasked, or wait again, as soon as the gateway has read the configuration. */
const others = (scene: Scene, go: boolean) => {
  let tries = 0;
  return expect
    .poll(
      async () => {
        const name = `${go ? "unasked" : "undone"} ${++tries}`;
        const paper = `${scene.idea}, ${name}`;
        await callAs({ ...scene, caller: `${scene.caller}-${tries}` }, paper);
        return scene.gated.traces().includes(traceOf(paper));
      },
      { timeout: 20_000, interval: 400 },
    )
    .toBe(go);
};

const othersGo = (scene: Scene) => others(scene, true);

/** A card of a change, signed with the plain key. */
async function signsCard(scene: Scene): Promise<void> {
  const cards = async () => (await scene.gated.pending()).filter(({ tool }) => tool.startsWith("mcpx."));
  await expect.poll(async () => (await cards()).length, { timeout: 15_000 }).toBe(1);
  const [{ id } = { id: "" }] = await cards();
  await signs({ ...scene, id });
}

async function ownKey({ gated }: Scene, name: string): Promise<string> {
  const path = fileOf(gated, `${name}.jwk`);
  expect((await gated.run("key", "new", "--unsealed", "--out", path)).code).toBe(0);
  return path;
}

const consoleLink = async ({ gated }: Scene) =>
  /http:\/\/\S+/.exec((await gated.run("console")).out)?.[0] ?? "";

const ideas: Record<string, Idea> = {
  "approve with the command, which has no key": neither(signs),
  "approve with a key of its own": stopped(async (scene) => {
    const own = await ownKey(scene, "own");
    expect((await scene.gated.run("approve", scene.id, "--yes", "--key", own)).code).toBe(1);
  }),
  "approve in a terminal of its own, by script": neither(({ gated, id }) => {
    const words = [...mcpxCommand, "approve", id, "--yes", "--data", gated.dataDir].join(" ");
    expect(spawnSync("script", ["-qec", words, "/dev/null"]).status).toBe(0);
    return Promise.resolve();
  }),
  "enrol itself with the command": neither(async (scene) => {
    const { gated, id } = scene;
    const own = await ownKey(scene, "mallory");
    const enrolling = await gated.run("key", "enroll", "mallory", "--key", own, "--unsealed", "--yes");
    expect(enrolling.out).toContain("mallory can approve now");
    expect((await gated.run("approve", id, "--yes", "--key", own)).code).toBe(0);
  }),
  "put a link in place of the approver's file": stopped(async ({ gated, id }) => {
    const path = fileOf(gated, "approvers", "alice.json");
    renameSync(path, fileOf(gated, "alice.kept"));
    symlinkSync(fileOf(gated, "alice.kept"), path);
    expect((await gated.run("approve", id, "--yes")).code).toBe(1);
    rmSync(path);
    copyFileSync(fileOf(gated, "alice.kept"), path);
  }),
  "name its key as an anchor in the configuration": configured((config) => ({
    ...config,
    gates: { ...config.gates, anchors: [{ name: "eve", jwk: newKey().jwk }] },
  })),
  "write a rule that allows everything": configured(
    (config) => ({
      ...config,
      gates: { ...config.gates, rules: [{ tools: "**", action: "allow" }] },
    }),
    othersGo,
  ),
  "let through what says nothing of itself": configured((config) => ({
    ...config,
    gates: { ...config.gates, unannotated: "allow" },
  })),
  "say in the configuration that the tool is harmless": configured(
    (config) => withPapers(config, { tools: { shred: { capability: { mutable: false } } } }),
    othersGo,
  ),
  "give the tool another name": configured((config) =>
    withPapers(config, { tools: { look: { name: "watch" } } }),
  ),
  "put another program under a trusted name": configured((config) => withPapers(config, { cwd: "/" })),
  "end panic, with the data directory's proof": neither(async ({ gated, here }) => {
    await gated.run("panic");
    expect((await here("GET", "/admin/gates")).body.panic).toBe(true);
    expect((await gated.run("panic", "off", "--yes")).code).toBe(0);
    expect((await here("GET", "/admin/gates")).body.panic).toBe(false);
  }),
  "allow itself calls beforehand": neither(async (scene) => {
    const { gated, id } = scene;
    const granting = await gated.run("grants", "add", "--like", id, "--include", "--uses", "1", "--yes");
    expect(granting.code).toBe(0);
    await callAs(scene, "granted");
    expect(gated.traces()).toContain(traceOf("granted"));
  }),
  "decide over HTTP with a proof of its own key": neither(async (scene) => {
    const proof = await plainProof(scene);
    const decided = await scene.here("POST", `/admin/gates/${scene.id}/decision`, { proof });
    expect(decided.status).toBe(200);
  }),
  "decide over HTTP without any": stopped(async ({ here, id }) => {
    for (const body of [{}, { proof: "" }, { proof: "e30.e30." }, { decision: "approve" }]) {
      expect((await here("POST", `/admin/gates/${id}/decision`, body)).status).toBeGreaterThanOrEqual(400);
    }
  }),
  "mint a token in the approver's name": stopped(async ({ gated, id }) => {
    const answer = await fetch(`${gated.url()}/admin/gates/${id}/decision`, {
      method: "POST",
      headers: { authorization: `Bearer ${await gated.token("alice")}`, "content-type": "application/json" },
      body: JSON.stringify({ proof: "approve" }),
    });
    expect(answer.status).toBeGreaterThanOrEqual(400);
  }),
  "log in at the console and enrol the browser's key": neither(async (scene) => {
    const visitor = await visitBy(await consoleLink(scene));
    const enrolled = { name: "browser", jwk: newKey().jwk };
    expect((await visitor.call("POST", "/console/api/approvers", { body: enrolled })).body).toMatchObject({
      waits: true,
    });
    await signsCard(scene);
    const { approvers } = (await scene.here("GET", "/admin/gates")).body;
    expect(JSON.stringify(approvers)).toContain("browser");
  }),
  "mark the call as approved in the store": stopped(async (scene) => {
    const { gated, idea, id } = scene;
    inStore(gated, "UPDATE gates SET status = 'approved' WHERE id = ?", id);
    await callAs(scene, idea);
    inStore(gated, "UPDATE gates SET status = 'pending' WHERE id = ?", id);
  }),
  "start a second gateway on the same data": stopped(async ({ gated }) => {
    const second = await gated.run("up", "--port", "0", "--no-demo", "--config", configOf(gated));
    expect(second.code).toBe(1);
  }),
  "put all approvers out while the gateway runs": stopped(async ({ gated }) => {
    expect((await gated.run("key", "reset", "--no-key-is-left")).code).toBe(1);
  }),
  "come in with the console's cookie out of the browser's files": stopped(async (scene) => {
    const { cookie } = await visitBy(await consoleLink(scene));
    const headers = { cookie, origin: scene.gated.url(), "x-mcpx-console": "guessed" };
    const path = `${scene.gated.url()}/console/api/admin/gates/${scene.id}`;
    expect((await fetch(path, { headers })).status).toBe(401);
  }),
  "take over the whole login, cookie and page": neither(async (scene) => {
    const visitor = await visitBy(await consoleLink(scene));
    const path = `/console/api/admin/gates/${scene.id}/decision`;
    const decided = await visitor.call("POST", path, { body: { proof: await plainProof(scene) } });
    expect(decided.status).toBe(200);
  }),
  "call past the gateway's rooms, over mcpx call": neither(async (scene) => {
    const { gated } = scene;
    expect((await gated.run("call", "papers.shred", '{"paper":"by hand"}', "--yes")).code).toBe(1);
    const gate = (await gated.pending()).find(({ principal }) => principal.startsWith("cli:"));
    await signs({ ...scene, id: gate?.id ?? "" });
    expect(gated.traces()).toContain(traceOf("by hand"));
  }),
  "look for the approver's key in the gateway's memory": neither(({ gated }) => {
    expect(JSON.parse(readFileSync(fileOf(gated, "keys", "default.jwk"), "utf8"))).toHaveProperty("d");
    return Promise.resolve();
  }),
  "write its key over the approver's file": stopped(async (scene) => {
    const { gated, here, id } = scene;
    enrol(gated.dataDir, "alice", newKey());
    const approvers = async () => JSON.stringify((await here("GET", "/admin/gates")).body.approvers);
    await expect.poll(approvers, { timeout: 15_000 }).not.toContain("alice");
    // From then on the plain key counts for nothing, neither at the terminal nor over HTTP.
    const proof = await plainProof(scene);
    expect((await here("POST", `/admin/gates/${id}/decision`, { proof })).status).toBe(403);
    expect((await gated.run("approve", id, "--yes")).code).toBe(1);
    copyFileSync(fileOf(gated, "alice.kept"), fileOf(gated, "approvers", "alice.json"));
    await expect.poll(approvers, { timeout: 15_000 }).toContain("alice");
  }),
  "remove the approver's file, so that it is the first": neither(async (scene) => {
    const { gated, id } = scene;
    const own = await ownKey(scene, "first");
    rmSync(fileOf(gated, "approvers", "alice.json"));
    // It is not the first, but the plain key may still sign who is the next.
    const enrolling = await gated.run("key", "enroll", "eve", "--key", own, "--unsealed", "--yes");
    expect(enrolling.out).toContain("eve can approve now");
    expect((await gated.run("approve", id, "--yes", "--key", own)).code).toBe(0);
    copyFileSync(fileOf(gated, "alice.kept"), fileOf(gated, "approvers", "alice.json"));
  }),
};

/** Ideas that let the very call go that waits. */
const lettingGo = new Set([
  "approve with the command, which has no key",
  "approve in a terminal of its own, by script",
  "enrol itself with the command",
  "allow itself calls beforehand",
  "decide over HTTP with a proof of its own key",
  "take over the whole login, cookie and page",
  "remove the approver's file, so that it is the first",
]);

async function callAs({ gated, caller }: Pick<Scene, "gated" | "caller">, paper: string): Promise<void> {
  const agent = await gated.agent(caller);
  await agent.call("papers.shred", { paper });
  await agent.close();
}

test("[B-KEY-1] with a plain key an agent's ideas become what the page of threats says: what wants a signature gets one", {
  timeout: 240_000,
}, async () => {
  const gated = await startGated();
  const here = await hereAt(gated);
  for (const [n, [idea, { play }]] of Object.entries(ideas).entries()) {
    const caller = `agent${n}`;
    await callAs({ gated, caller }, idea);
    const gate = (await gated.pending()).find(({ principal }) => principal === caller);
    const scene: Scene = { gated, here, idea, caller, id: gate?.id ?? "" };
    expect(scene.id, idea).not.toBe("");
    await play(scene);
    if (lettingGo.has(idea)) await expect.poll(() => went(scene), { message: idea }).toBe(true);
    else expect([went(scene), await waiting(scene)], idea).toEqual([false, "pending"]);
  }
});

test("what the ideas become is what their lines of docs/THREATS.md say", () => {
  const page = readFileSync(join(import.meta.dirname, "../../docs/THREATS.md"), "utf8");
  const [, table = ""] = page.split("| the agent's idea | plain | sealed | own user |");
  const said = (idea: string) => table.split(`| ${idea} | `)[1]?.split(/\W/)[0];
  const others = Object.entries(ideas).filter(([idea, { becomes }]) => said(idea) !== becomes);
  expect(others.map(([idea]) => idea)).toEqual([]);
});
