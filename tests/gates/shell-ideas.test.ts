// An agent with a shell, as the same user, with a token, the documentation and an hour: its ideas, one after the other,
// against one gateway whose approvers have a key elsewhere, and here one in each way that a program alone cannot use.
// docs/THREATS.md has each idea. [B-KEY-1] [B-KEY-2]
import { spawnSync } from "node:child_process";
import { once } from "node:events";
import {
  closeSync,
  copyFileSync,
  openSync,
  readFileSync,
  readSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { statementKey } from "@mcpx/host";
import { type GateTerms, signStatement, statementOf } from "@mcpx/protocol";
import type { Locator } from "playwright-core";
import { expect, test } from "vitest";
import { openBrowser } from "../browser/page.ts";
import type { mcpx } from "../cli/support/mcpx-process.ts";
import { cards } from "../console/support/screen.ts";
import { visitBy } from "../console/support/visitor.ts";
import { mcpxCommand } from "../support/programs.ts";
import { type Key, newKey } from "./attacks/support/keys.ts";
import { gatedHome } from "./support/gated.ts";
import { enrol } from "./support/give-grant.ts";
import { enrolKeysHere, type KeyScene, keyIdeas } from "./support/key-ideas.ts";
import { type Config, configOf, hereAt, inStore, withPapers } from "./support/shell-scene.ts";

interface Scene extends KeyScene {
  own: Key;
  /** The approver's, which is not on the machine. */
  alice: Key;
}

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

const pieceBytes = 1_048_576;

const fails = async (running: ReturnType<typeof mcpx>) => expect((await running).code).toBe(1);

/** Which of these is somewhere in what the process may write. */
function memoryHas(pid: number, wanted: readonly Buffer[]): boolean[] {
  const found = wanted.map(() => false);
  const memory = openSync(`/proc/${pid}/mem`, "r");
  for (const line of readFileSync(`/proc/${pid}/maps`, "utf8").split("\n")) {
    const [, from = "", to = ""] = /^([0-9a-f]+)-([0-9a-f]+) rw/.exec(line) ?? [];
    for (let at = Number.parseInt(from, 16); at < Number.parseInt(to, 16); at += pieceBytes) {
      const piece = Buffer.alloc(Math.min(pieceBytes + 64, Number.parseInt(to, 16) - at));
      try {
        readSync(memory, piece, 0, piece.length, at);
      } catch {
        // Not there any more.
        continue;
      }
      wanted.forEach((text, index) => {
        found[index] ||= piece.includes(text);
      });
    }
  }
  closeSync(memory);
  return found;
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
    inStore(gated, "UPDATE tree_facts SET value = 0 WHERE name = 'panic'");
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
    inStore(scene.gated, "UPDATE gates SET status = 'approved' WHERE id = ?", scene.id);
    const agent = await scene.gated.agent("agent");
    await agent.call("papers.shred", { paper: "taxes" });
    await agent.close();
    inStore(scene.gated, "UPDATE gates SET status = 'pending' WHERE id = ?", scene.id);
  },
  "append an entry of its own to the chain": async (scene) => {
    const entry = JSON.stringify({ n: 99, kind: "signed" });
    inStore(scene.gated, "INSERT INTO authority_chain VALUES (99, ?)", entry);
    await fails(scene.gated.run("key", "log"));
    inStore(scene.gated, "DELETE FROM authority_chain WHERE n = 99");
  },
  "start a second gateway on the same data": ({ gated }) =>
    fails(gated.run("up", "--port", "0", "--no-demo", "--config", configOf(gated))),
  "put all approvers out while the gateway runs": ({ gated }) =>
    fails(gated.run("key", "reset", "--no-key-is-left")),
  "call past the gateway's rooms, over mcpx call": ({ gated }) =>
    fails(gated.run("call", "papers.shred", '{"paper":"by hand"}', "--yes")),
  "listen on the gateway's port beside it": async ({ gated }) => {
    const server = createServer();
    server.listen(Number(new URL(gated.url()).port), "127.0.0.1");
    const [error] = (await once(server, "error")) as [NodeJS.ErrnoException];
    expect(error.code).toBe("EADDRINUSE");
  },
  "come in with the console's cookie out of the browser's files": async ({ gated, id }) => {
    const { out } = await gated.run("console");
    const { cookie } = await visitBy(/http:\/\/\S+/.exec(out)?.[0] ?? "");
    for (const half of ["", "guessed"]) {
      const headers = { cookie, origin: gated.url(), "x-mcpx-console": half };
      const look = await fetch(`${gated.url()}/console/api/admin/gates/${id}`, { headers });
      expect(look.status).toBe(401);
    }
  },
  "take over the whole login, cookie and page": async ({ gated, id, own }) => {
    const { out } = await gated.run("console");
    const visitor = await visitBy(/http:\/\/\S+/.exec(out)?.[0] ?? "");
    const path = `/console/api/admin/gates/${id}`;
    // It sees what the person would see, and has nothing to sign with.
    const { status, body } = await visitor.call("GET", path);
    expect(status).toBe(200);
    const terms = body.terms as GateTerms;
    const proof = await signStatement(statementOf(terms, "approve"), statementKey(own.privateKey, own.kid));
    expect((await visitor.call("POST", `${path}/decision`, { body: { proof } })).status).toBe(403);
  },
  "click the console's page over the browser's debugging port": async ({ gated }) => {
    const { out } = await gated.run("console");
    const browser = await openBrowser(["--remote-debugging-port=0"]);
    try {
      const page = await browser.newPage();
      await page.goto(/http:\/\/\S+/.exec(out)?.[0] ?? "");
      const cdp = await page.context().newCDPSession(page);
      const click = async (place: Locator) => {
        await place.scrollIntoViewIfNeeded();
        const box = await place.boundingBox();
        const at = { x: (box?.x ?? 0) + 8, y: (box?.y ?? 0) + 8, button: "left" as const, clickCount: 1 };
        for (const type of ["mousePressed", "mouseReleased"] as const) {
          await cdp.send("Input.dispatchMouseEvent", { type, ...at });
        }
      };
      const card = cards(page).filter({ hasText: "papers.shred" }).first();
      await click(card.getByRole("button", { name: "papers.shred" }).first());
      await click(card.getByRole("button", { name: /^Approve …/ }));
      // An authenticator of its own says yes to everything, and is nobody's passkey here.
      await cdp.send("WebAuthn.enable");
      const options = { protocol: "ctap2", transport: "internal", hasUserVerification: true } as const;
      await cdp.send("WebAuthn.addVirtualAuthenticator", {
        options: {
          ...options,
          hasResidentKey: true,
          isUserVerified: true,
          automaticPresenceSimulation: true,
        },
      });
      await click(page.getByRole("button", { name: /^Yes, approve with passkey/ }));
      await page.getByRole("alert").first().waitFor();
    } finally {
      await browser.close();
    }
  },
  "look for the approver's key in the gateway's memory": ({ gated, alice }) => {
    const { x = "", d = "" } = alice.privateKey.export({ format: "jwk" }) as { x?: string; d?: string };
    // It finds who approves, and nothing to approve with.
    expect(memoryHas(gated.pid(), [Buffer.from(x), Buffer.from(d), Buffer.from(d, "base64url")])).toEqual([
      true,
      false,
      false,
    ]);
    return Promise.resolve();
  },
};

test("[B-KEY-2] none of an agent's ideas lets its call go, and the approver's signature does", {
  timeout: 240_000,
}, async () => {
  const gated = gatedHome();
  const alice = newKey();
  enrol(gated.dataDir, "alice", alice);
  copyFileSync(join(gated.dataDir, "approvers", "alice.json"), join(gated.dataDir, "alice.kept"));
  const keys = await enrolKeysHere(gated);
  await gated.start();
  const wait = async (paper: string) => {
    const agent = await gated.agent("agent");
    await agent.call("papers.shred", { paper });
    await agent.close();
  };
  await wait("taxes");
  const [{ id } = { id: "" }] = await gated.pending();
  const here = await hereAt(gated);
  const scene: Scene = { gated, id, own: newKey(), alice, here, keys };
  for (const [idea, play] of Object.entries<(scene: Scene) => Promise<void>>({ ...ideas, ...keyIdeas })) {
    await play(scene);
    expect(gated.traces(), idea).toEqual([]);
    expect((await here("GET", `/admin/gates/${id}`)).body.status, idea).toBe("pending");
    // Every idea begins with what there was, so that none hides the next.
    copyFileSync(join(gated.dataDir, "alice.kept"), join(gated.dataDir, "approvers", "alice.json"));
  }
  // The controls: after all of that the signature of each approver lets a call go.
  const proofs = {
    ...keys.proofs,
    alice: (terms: GateTerms) =>
      signStatement(statementOf(terms, "approve"), statementKey(alice.privateKey, alice.kid)),
  };
  for (const [name, prove] of Object.entries(proofs)) {
    await wait(name);
    const gate = (await gated.pending()).find((one) => JSON.stringify(one.arguments).includes(`"${name}"`));
    const path = `/admin/gates/${gate?.id}`;
    const proof = await prove((await here("GET", path)).body.terms as GateTerms);
    expect(await here("POST", `${path}/decision`, { proof }), name).toMatchObject({ status: 200 });
  }
  expect(gated.traces()).toEqual(Object.keys(proofs).map((name) => `shred {"paper":"${name}"}`));
});

test("every idea is a line of docs/THREATS.md", () => {
  const page = readFileSync(join(import.meta.dirname, "../../docs/THREATS.md"), "utf8");
  const all = Object.keys({ ...ideas, ...keyIdeas });
  expect(all.filter((idea) => !page.includes(`| ${idea} |`))).toEqual([]);
  expect(all.length).toBeGreaterThanOrEqual(40);
});
