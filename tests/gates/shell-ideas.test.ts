// An agent with a shell, as the same user, with a token, the documentation and an hour: its ideas, one after the other,
// against one gateway whose only approver has a key that is not here. docs/THREATS.md has each of them. [B-KEY-1] [B-KEY-2]
import { spawnSync } from "node:child_process";
import { copyFileSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import {
  createIdentity,
  createLogger,
  localHeader,
  localProof,
  openState,
  statementKey,
  systemClock,
} from "@mcpx/host";
import { type GateTerms, signStatement, statementOf } from "@mcpx/protocol";
import { expect, test } from "vitest";
import type { mcpx } from "../cli/support/mcpx-process.ts";
import { visitBy } from "../console/support/visitor.ts";
import { mcpxCommand } from "../support/programs.ts";
import { type Key, newKey } from "./attacks/support/keys.ts";
import { type Gated, gatedHome } from "./support/gated.ts";
import { enrol } from "./support/give-grant.ts";

interface Scene {
  gated: Gated;
  /** The call that waits. */
  id: string;
  own: Key;
  /** A request with an admin's token and the proof of whoever has the data directory. */
  here(
    method: string,
    path: string,
    body?: object,
  ): Promise<{ status: number; body: Record<string, unknown> }>;
}

const configOf = ({ dataDir }: Gated) => join(dataDir, "mcpx.json");

/** Writes a configuration, waits until the gateway has read it, and puts the old one back. */
async function configured(
  { gated, here }: Scene,
  edit: (config: Config) => object,
  waits: string,
): Promise<void> {
  const before = readFileSync(configOf(gated), "utf8");
  writeFileSync(configOf(gated), JSON.stringify(edit(JSON.parse(before) as Config)));
  const cards = async () => JSON.stringify((await here("GET", "/admin/approvers/chain")).body.waiting);
  await expect.poll(cards, { timeout: 15_000 }).toContain(waits);
  const agent = await gated.agent("agent");
  await agent.call("papers.shred", { paper: "another" });
  await agent.close();
  writeFileSync(configOf(gated), before);
  await expect.poll(cards, { timeout: 15_000 }).not.toContain(waits);
}

interface Config {
  mcpServers: Record<string, object>;
  gates: object;
}

const fails = async (running: ReturnType<typeof mcpx>) => expect((await running).code).toBe(1);

function inStore({ gated }: Scene, sql: string, ...values: string[]): void {
  const db = new DatabaseSync(join(gated.dataDir, "state.db"));
  db.exec("PRAGMA busy_timeout = 5000");
  db.prepare(sql).run(...values);
  db.close();
}

const ideas: Record<string, (scene: Scene) => Promise<void>> = {
  "approve with the command, which has no key": ({ gated, id }) => fails(gated.run("approve", id, "--yes")),
  "approve with a key of its own": async ({ gated, id }) => {
    await gated.run("key", "new", "--unsealed");
    await fails(gated.run("approve", id, "--yes"));
  },
  "approve in a terminal of its own, by script": async ({ gated, id }) => {
    const words = [...mcpxCommand, "approve", id, "--yes", "--data", gated.dataDir].join(" ");
    expect(spawnSync("script", ["-qec", words, "/dev/null"], { input: "y\n" }).status).not.toBe(0);
  },
  "enrol itself with the command": async ({ gated }) => {
    expect((await gated.run("key", "enroll", "mallory", "--unsealed", "--yes")).out).toContain("waits");
  },
  "write its key over the approver's file": async ({ gated, id, own }) => {
    enrol(gated.dataDir, "alice", own);
    await fails(gated.run("approve", id, "--yes"));
  },
  "put a link in place of the approver's file": async ({ gated, id }) => {
    const path = join(gated.dataDir, "approvers", "alice.json");
    rmSync(path);
    symlinkSync(join(gated.dataDir, "approvers", "mallory.json"), path);
    await fails(gated.run("approve", id, "--yes"));
    rmSync(path);
  },
  "remove the approver's file, so that it is the first": async ({ gated, id }) => {
    rmSync(join(gated.dataDir, "approvers", "alice.json"), { force: true });
    rmSync(join(gated.dataDir, "approvers", "mallory.json"), { force: true });
    expect((await gated.run("key", "enroll", "mallory", "--unsealed", "--yes")).out).toContain("waits");
    await fails(gated.run("approve", id, "--yes"));
  },
  "name its key as an anchor in the configuration": (scene) =>
    configured(
      scene,
      (config) => ({ ...config, gates: { anchors: [{ name: "eve", jwk: scene.own.jwk }] } }),
      "eve may approve",
    ),
  "write a rule that allows everything": (scene) =>
    configured(
      scene,
      (config) => ({ ...config, gates: { rules: [{ tools: "**", action: "allow" }] } }),
      "1 rule decides",
    ),
  "let through what says nothing of itself": (scene) =>
    configured(scene, (config) => ({ ...config, gates: { unannotated: "allow" } }), "are let through"),
  "say in the configuration that the tool is harmless": (scene) =>
    configured(
      scene,
      (config) => withPapers(config, { tools: { shred: { capability: { mutable: false } } } }),
      "its tool shred is as dangerous",
    ),
  "give the tool another name": (scene) =>
    configured(
      scene,
      (config) => withPapers(config, { tools: { look: { name: "watch" } } }),
      "its tool look gets",
    ),
  "put another program under a trusted name": (scene) =>
    configured(scene, (config) => withPapers(config, { cwd: "/" }), "server papers: what it says"),
  "sign the configuration with its own key": async ({ gated }) => {
    const before = readFileSync(configOf(gated), "utf8");
    writeFileSync(configOf(gated), JSON.stringify({ ...JSON.parse(before), pins: false }));
    await fails(gated.run("config", "sign", "--yes"));
    writeFileSync(configOf(gated), before);
  },
  "end panic, with the data directory's proof": async ({ gated, here }) => {
    await gated.run("panic");
    expect(await here("POST", "/admin/panic", { on: false })).toMatchObject({
      status: 202,
      body: { panic: true },
    });
    inStore({ gated } as Scene, "UPDATE tree_facts SET value = 0 WHERE name = 'panic'");
    expect((await here("GET", "/admin/gates")).body.panic).toBe(true);
  },
  "allow itself calls beforehand": ({ gated }) =>
    fails(gated.run("grants", "add", "agent", "papers.shred", "--uses", "5", "--yes")),
  "decide over HTTP with a proof of its own key": async ({ here, id, own }) => {
    const terms = (await here("GET", `/admin/gates/${id}`)).body.terms as GateTerms;
    const proof = await signStatement(statementOf(terms, "approve"), statementKey(own.privateKey, own.kid));
    expect((await here("POST", `/admin/gates/${id}/decision`, { proof })).status).toBeGreaterThanOrEqual(400);
  },
  "decide over HTTP without any": async ({ here, id }) => {
    for (const body of [{}, { proof: "" }, { proof: true }, { proof: "e30.e30." }, { decision: "approve" }]) {
      expect((await here("POST", `/admin/gates/${id}/decision`, body)).status).toBeGreaterThanOrEqual(400);
    }
  },
  "mint a token in the approver's name": async ({ gated, id }) => {
    const answer = await fetch(`${gated.url()}/admin/gates/${id}/decision`, {
      method: "POST",
      headers: { authorization: `Bearer ${await gated.token("alice")}`, "content-type": "application/json" },
      body: JSON.stringify({ proof: "approve" }),
    });
    expect(answer.status).toBeGreaterThanOrEqual(400);
  },
  "invite itself by a link for a passkey": async ({ here }) => {
    const { status } = await here("POST", "/admin/approvers/enrolments", { name: "mallet" });
    // The link is made; its passkey would wait as every other key does.
    expect(status).toBe(201);
    expect(JSON.stringify((await here("GET", "/admin/gates")).body.approvers)).not.toContain("mallet");
  },
  "log in at the console and enrol the browser's key": async ({ gated, here }) => {
    const { out } = await gated.run("console");
    const link = /http:\/\/\S+/.exec(out)?.[0] ?? "";
    const visitor = await visitBy(link);
    const answer = await visitor.call("POST", "/console/api/approvers", {
      body: { name: "browser", jwk: newKey().jwk },
    });
    expect(answer.body).toMatchObject({ name: "browser", waits: true });
    expect(JSON.stringify((await here("GET", "/admin/gates")).body.approvers)).not.toContain("browser");
  },
  "mark the call as approved in the store": async (scene) => {
    inStore(scene, "UPDATE gates SET status = 'approved' WHERE id = ?", scene.id);
    const agent = await scene.gated.agent("agent");
    await agent.call("papers.shred", { paper: "taxes" });
    await agent.close();
    inStore(scene, "UPDATE gates SET status = 'pending' WHERE id = ?", scene.id);
  },
  "append an entry of its own to the chain": async (scene) => {
    const entry = JSON.stringify({ n: 99, kind: "signed" });
    inStore(scene, "INSERT INTO authority_chain VALUES (99, ?)", entry);
    await fails(scene.gated.run("key", "log"));
    inStore(scene, "DELETE FROM authority_chain WHERE n = 99");
  },
  "start a second gateway on the same data": ({ gated }) =>
    fails(gated.run("up", "--port", "0", "--no-demo", "--config", configOf(gated))),
  "put all approvers out while the gateway runs": ({ gated }) =>
    fails(gated.run("key", "reset", "--no-key-is-left")),
  "call past the gateway's rooms, over mcpx call": ({ gated }) =>
    fails(gated.run("call", "papers.shred", '{"paper":"by hand"}', "--yes")),
};

function withPapers(config: Config, more: object): object {
  return { ...config, mcpServers: { papers: { ...config.mcpServers.papers, ...more } } };
}

test("[B-KEY-2] none of an agent's ideas lets its call go, and the approver's signature does", {
  timeout: 240_000,
}, async () => {
  const gated = gatedHome();
  const alice = newKey();
  enrol(gated.dataDir, "alice", alice);
  copyFileSync(join(gated.dataDir, "approvers", "alice.json"), join(gated.dataDir, "alice.kept"));
  await gated.start();
  const agent = await gated.agent("agent");
  await agent.call("papers.shred", { paper: "taxes" });
  await agent.close();
  const [{ id } = { id: "" }] = await gated.pending();
  const state = openState(join(gated.dataDir, "state.db"));
  const identity = createIdentity({ db: state, clock: systemClock, log: createLogger({ level: "silent" }) });
  const here: Scene["here"] = async (method, path, body) => {
    const { token } = await identity.tokens.mint(
      { sub: "admin", topics: [], admin: true },
      { ttlMs: 60_000 },
    );
    const headers = { authorization: `Bearer ${token}`, [localHeader]: localProof(identity, token) };
    const json = body && { body: JSON.stringify(body) };
    const sent = { method, headers: { ...headers, "content-type": "application/json" }, ...json };
    const response = await fetch(`${gated.url()}${path}`, sent);
    return { status: response.status, body: (await response.json()) as Record<string, unknown> };
  };
  const scene: Scene = { gated, id, own: newKey(), here };
  for (const [idea, play] of Object.entries(ideas)) {
    await play(scene);
    expect(gated.traces(), idea).toEqual([]);
    expect((await here("GET", `/admin/gates/${id}`)).body.status, idea).toBe("pending");
    // Every idea begins with what there was, so that none hides the next.
    copyFileSync(join(gated.dataDir, "alice.kept"), join(gated.dataDir, "approvers", "alice.json"));
  }
  // The control: after all of that, the approver's own signature.
  const terms = (await here("GET", `/admin/gates/${id}`)).body.terms as GateTerms;
  const proof = await signStatement(statementOf(terms, "approve"), statementKey(alice.privateKey, alice.kid));
  expect(await here("POST", `/admin/gates/${id}/decision`, { proof })).toMatchObject({ status: 200 });
  expect(gated.traces()).toEqual(['shred {"paper":"taxes"}']);
  identity.close();
  state.close();
});

test("every idea is a line of docs/THREATS.md", () => {
  const page = readFileSync(join(import.meta.dirname, "../../docs/THREATS.md"), "utf8");
  expect(Object.keys(ideas).filter((idea) => !page.includes(`| ${idea} |`))).toEqual([]);
  expect(Object.keys(ideas).length).toBeGreaterThanOrEqual(25);
});
