// An archive behind gates that hold results, and two humans who decide about them with keys of their own, over REST.
import { generateKeyPairSync, type KeyObject } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { type PublicJwk, signDecision, thumbprint } from "@mcpx/host";
import { type Decision, type GateTerms, type JsonObject, statementOf } from "@mcpx/protocol";
import { mintTokens } from "../../faults/support/tokens.ts";
import { programPath } from "../../support/programs.ts";
import { type Gated, gatedHome } from "./gated.ts";

const archive = programPath("tests/gates/support/archive.ts");

type Who = "alice" | "bob";

interface WholeGate {
  id: string;
  status: string;
  terms: GateTerms;
  outcome?: JsonObject;
}

export interface ReviewDesk extends Gated {
  readonly keyFile: string;
  /** Those in this state. */
  gates(status: string): Promise<WholeGate[]>;
  gate(id: string): Promise<WholeGate>;
  proof(terms: GateTerms, who: Who, decision?: Decision, reason?: string): Promise<string>;
  /** Looks, signs what is there now, and decides. */
  decide(id: string, who: Who, decision?: Decision, reason?: string): Promise<WholeGate>;
  /** What the store has of this gate: nothing of it waits to be written. */
  actions(id: string): string[];
}

export async function startArchive(rule: JsonObject = {}, gates: JsonObject = {}): Promise<ReviewDesk> {
  const home = gatedHome();
  const pairs = { alice: generateKeyPairSync("ed25519"), bob: generateKeyPairSync("ed25519") };
  const jwkOf = (key: KeyObject) => key.export({ format: "jwk" }) as unknown as PublicJwk;
  const keyFile = join(home.dataDir, "alice.jwk");
  // As `mcpx key new --unsealed` writes it: a test is a program.
  const unsealed = { ...jwkOf(pairs.alice.privateKey), mcpx_unsealed: true };
  writeFileSync(keyFile, JSON.stringify(unsealed), { mode: 0o600 });
  const server = { command: process.execPath, args: [archive, join(home.dataDir, "traces")], trusted: true };
  const rules = [
    { tools: "archive.plain", action: "allow" },
    { tools: "archive.*", action: "allow", holdResult: true, ...rule },
  ];
  const anchors = Object.entries(pairs).map(([name, { publicKey }]) => ({ name, jwk: jwkOf(publicKey) }));
  const config = { mcpServers: { archive: server }, gates: { hold: "1s", rules, anchors, ...gates } };
  writeFileSync(join(home.dataDir, "mcpx.json"), JSON.stringify(config));
  await home.start();
  const [admin = ""] = await mintTokens(home.dataDir, [{ sub: "root", topics: [], admin: true }]);
  const call = async (method: "GET" | "POST", path: string, body?: JsonObject) => {
    const headers = { authorization: `Bearer ${admin}`, "content-type": "application/json" };
    const sent = body === undefined ? {} : { body: JSON.stringify(body) };
    return (await fetch(`${home.url()}/admin/gates${path}`, { method, headers, ...sent })).json();
  };
  const proof: ReviewDesk["proof"] = (terms, who, decision = "approve", reason) => {
    const { privateKey, publicKey } = pairs[who];
    return signDecision(statementOf(terms, decision, reason), privateKey, thumbprint(jwkOf(publicKey)));
  };
  const gate: ReviewDesk["gate"] = async (id) => (await call("GET", `/${id}`)) as WholeGate;
  return {
    ...home,
    keyFile,
    gate,
    proof,
    gates: async (status) => ((await call("GET", `?status=${status}`)) as { gates: WholeGate[] }).gates,
    async decide(id, who, decision, reason) {
      const { terms } = await gate(id);
      const body = { proof: await proof(terms, who, decision, reason) };
      return (await call("POST", `/${id}/decision`, body)) as WholeGate;
    },
    actions(id) {
      const db = new DatabaseSync(join(home.dataDir, "state.db"), { readOnly: true });
      try {
        const found = db.prepare(
          "SELECT action, actor, detail FROM audit WHERE action GLOB 'gate.*' ORDER BY seq",
        );
        return found
          .all()
          .filter(({ detail }) => JSON.parse(String(detail))?.gate === id)
          .map(({ action, actor }) => `${action} ${actor}`);
      } finally {
        db.close();
      }
    },
  };
}
