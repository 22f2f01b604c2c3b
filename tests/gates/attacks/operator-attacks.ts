// What only an operator or a human at the page may do, tried by an agent: grants of others, panic, pages, the
// operator's own addresses, a place in the tree. [AX-11.3-6] [AX-11.3-7]
import { expect } from "vitest";
import { rawRegistrant, registrationOf, toolOf } from "../../tree/registration/support/raw-registrant.ts";
import { giveGrant } from "../support/give-grant.ts";
import { type Attack, type Scene, signed, textOf } from "./support/scene.ts";
import { type Agent, waitingOf } from "./support/stage.ts";

interface GrantWish {
  to?: string;
  uses?: number;
  ttlMs?: number;
  arguments?: object;
  session?: string;
}

/** The operator allows somebody to open boxes. */
async function grant({ stage, thief }: Scene, { to = thief.id, ...wish }: GrantWish): Promise<string> {
  const body = { principal: stage.principal(to), tools: "vault.open", reason: "for now", ...wish };
  const ask = (path: string, asked: object) => stage.admin("POST", path.replace("/admin", ""), asked);
  const answer = await giveGrant(ask, stage.keys.alice, body);
  expect(answer.status).toBe(200);
  return answer.body.id;
}

const revoke = async ({ stage }: Scene, id: string) =>
  expect((await stage.admin("DELETE", `/grants/${id}`)).status).toBe(200);

const opens = async (agent: Agent, args: object) =>
  expect(textOf(await agent.call("vault.open", args))).toBe("open is done");
const waits = async (agent: Agent, args: object) => waitingOf(await agent.call("vault.open", args));

const grants: Attack[] = [
  {
    title: "[AX-11.3-7] uses what was granted to another: it waits; the other does not",
    done: 1,
    async strike(scene) {
      const { stage, thief, args } = scene;
      const friend = await stage.agent({ sub: `friend-${thief.id}` });
      await grant(scene, { to: friend.id, uses: 5 });
      await waits(thief, args);
      await opens(friend, args);
    },
  },
  {
    title: "[AX-11.3-7] uses what was granted for other arguments: it waits; with those it does not",
    done: 1,
    async strike(scene) {
      const { thief, args } = scene;
      await grant(scene, { uses: 5, arguments: { ...args, depth: 1 } });
      await waits(thief, args);
      await waits(thief, { ...args, depth: 2 });
      await waits(thief, { ...args, depth: "1" });
      await waits(thief, { ...args, depth: 1, force: true });
      await opens(thief, { ...args, depth: 1 });
    },
  },
  {
    title: "[AX-11.3-7] uses what was granted for a time, a session or at all, when that is over: it waits",
    done: 1,
    async strike(scene) {
      const { stage, thief, args } = scene;
      const revoked = await grant(scene, { uses: 5 });
      await opens(thief, { ...args, n: 0 });
      await revoke(scene, revoked);
      await waits(thief, { ...args, n: 1 });
      const short = await grant(scene, { ttlMs: 1 });
      const grants = async () => JSON.stringify((await stage.admin("GET", "/grants")).body.grants);
      await expect.poll(grants).not.toContain(short);
      await waits(thief, { ...args, n: 2 });
      const ofSession = await grant(scene, { uses: 5, session: "session:of-somebody-else" });
      await waits(thief, { ...args, n: 3 });
      await revoke(scene, ofSession);
    },
  },
  {
    title: "[AX-11.3-7] makes fifty calls at once with a grant for three: three happen",
    done: 3,
    async strike(scene) {
      const { thief, args } = scene;
      await grant(scene, { uses: 3 });
      // The same call each time: what is not granted joins the gate that waits.
      await Promise.all(Array.from({ length: 50 }, () => thief.call("vault.open", args)));
    },
  },
  {
    title: "[AX-11.3-7] uses a grant from before a restart: it is asked for again; without one it goes",
    before: async (scene) => void (await grant(scene, { uses: 1, arguments: { box: scene.args.box, n: 7 } })),
    async strike(scene) {
      const { thief, args, row } = scene;
      const heard = await thief.call("vault.open", { ...args, n: 7 });
      if (row === 1) waitingOf(heard);
      else expect(textOf(heard)).toBe("open is done");
    },
    done: [1, 0],
  },
  {
    title: "[AX-11.3-7] panic: what was granted waits, and what is harmless too",
    async strike(scene) {
      const { stage, thief, args } = scene;
      const id = await grant(scene, { uses: 5 });
      await stage.admin("POST", "/panic", { on: true });
      await waits(thief, args);
      waitingOf(await thief.call("vault.look", args));
      await stage.admin("POST", "/panic", { on: false });
      expect(textOf(await thief.call("vault.look", { other: 1 }))).toBe("look is done");
      await revoke(scene, id);
    },
  },
];

async function post(scene: Scene, path: string, body: unknown, headers: Record<string, string> = {}) {
  const response = await fetch(`${scene.stage.gate.url}${path}`, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: typeof body === "string" ? body : JSON.stringify(body),
  });
  const text = await response.text();
  return { status: response.status, reason: text === "" ? "" : JSON.parse(text).error?.reason };
}

const pages: Attack[] = [
  {
    title: "[AX-11.3-2] decides at the page, with its token, with none and from elsewhere: refused",
    async strike(scene) {
      const { terms, thief, stage } = scene;
      const path = `/approve/${terms.confirmation_id}`;
      const own = { authorization: `Bearer ${thief.token}` };
      const decision = (body: unknown, headers = {}) => post(scene, `${path}/decision`, body, headers);
      for (const headers of [{}, own]) {
        expect((await decision({ proof: "nonsense" }, headers)).reason).toBe("bad_proof");
        expect((await decision({ decision: "approve" }, headers)).reason).toBe("bad_request");
        expect((await decision({ proof: thief.token }, headers)).reason).toBe("bad_proof");
      }
      // A page of somebody else's, with a proof that would be good.
      const foreign = { origin: "https://thief.example" };
      expect((await decision({ proof: scene.sign() }, foreign)).status).toBe(403);
      // What a form can send without being asked.
      const form = { "content-type": "text/plain" };
      expect((await decision({ proof: scene.sign() }, { ...form, ...foreign })).status).toBe(403);
      const passkey = { decision: "approve", credential: { id: "eA", response: {} } };
      expect((await post(scene, `${path}/passkey/decision`, passkey)).reason).toBe("bad_proof");
      const byNumber = await post(scene, `${path}/passkey/options`, { decision: "approve" });
      expect(byNumber.reason).toBe("bad_request");
      expect((await post(scene, `${path}x/decision`, { proof: scene.sign() })).reason).toBe(
        "confirmation_unknown",
      );
      expect((await fetch(`${stage.gate.url}${path}/decision?proof=${scene.sign()}`)).status).toBe(405);
    },
  },
  {
    title: "[AX-11.3-6] enrols itself: ticket_invalid and admin_only, and its key approves nothing",
    async strike(scene) {
      const { thief, stage } = scene;
      // Where the gate stands it is nobody; where it comes in, it is no admin.
      const own = { authorization: `Bearer ${thief.token}` };
      const invite = await post(scene, "/admin/approvers/enrolments", { name: "thief" }, own);
      expect(invite.reason).toBe(stage.cell === "here" ? "admin_only" : "unauthorised");
      for (const what of ["options", "passkey"]) {
        const guess = await post(scene, `/approve/enroll/${"A".repeat(43)}/${what}`, { credential: {} });
        expect(guess.reason).toBe("ticket_invalid");
      }
    },
  },
  {
    title: "[AX-11.3-2] asks at the operator's addresses: admin_only",
    async strike(scene) {
      const { thief, stage, terms } = scene;
      const gate = `/gates/${terms.confirmation_id}`;
      const attempts: [string, string, object?][] = [
        ["GET", "/gates"],
        ["GET", gate],
        ["POST", `${gate}/decision`, { proof: scene.sign() }],
        ["GET", "/grants"],
        ["POST", "/grants/terms", { principal: thief.id, tools: "**", uses: 1 }],
        ["POST", "/grants", { principal: thief.id, tools: "**", uses: 1 }],
        ["DELETE", "/grants/x"],
        ["POST", "/panic", { on: false }],
        ["GET", "/rules"],
        ["POST", "/rules/test", { tool: "vault.open" }],
        ["POST", "/rules/try", { rules: [] }],
        ["POST", "/tools/vault.open/accept", {}],
        ["GET", "/audit"],
      ];
      for (const server of new Set([stage.gate, stage.endpoint])) {
        const expected = server === stage.endpoint ? ["admin_only"] : ["unauthorised"];
        for (const [method, path, body] of attempts) {
          const { body: answer } = await server.call(method, `/admin${path}`, thief.token, body);
          expect([path, answer.error?.reason]).toEqual([path, ...expected]);
        }
      }
    },
  },
  {
    title: "[AX-11.3-8] registers in the vault's place, with the agent's token: refused",
    async strike(scene) {
      const { stage, thief } = scene;
      const segment = stage.cell === "here" ? "vault" : "mid";
      const call = () => ({ content: [{ type: "text", text: "open is done" }] });
      const arrive = () => rawRegistrant(stage.endpoint.url, thief.token, { tools: [toolOf("open")], call });
      const registrant = await arrive();
      const { error } = await registrant.register(registrationOf(segment));
      expect(error).toBeDefined();
      registrant.cut();
    },
  },
  {
    title: "[AX-11.3-6] asks in the name of an approver, and brings that one's signature: self_approval",
    thief: () => ({ sub: "erin" }),
    strike: (scene) => scene.refused(signed(scene.stage.keys.erin, scene.terms), "self_approval"),
  },
];

export const operatorAttacks: readonly Attack[] = [...grants, ...pages];
