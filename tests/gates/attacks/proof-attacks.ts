// Proofs a thief can make: of the wrong people, about the wrong thing, or in the wrong form. Each is brought to a call
// that waits, is refused for a reason, and leaves the call waiting. [AX-11.3-2] [AX-11.3-6]
import { type JsonObject, type ServerTerms, statementOf } from "@mcpx/protocol";
import { by, byHmac, headerOf, jws, newKey, unsigned } from "./support/keys.ts";
import { type Attack, type Scene, signed } from "./support/scene.ts";
import { serviceIssuer, waitingOf } from "./support/stage.ts";

type Forge = (scene: Scene) => unknown;

const payloadOf = ({ terms }: Scene, more: JsonObject = {}): JsonObject => ({
  ...statementOf(terms, "approve"),
  ...more,
});

/** Alice's own signature, under something else than this call's approval. */
const ofAlice =
  (more: JsonObject, header: JsonObject = {}): Forge =>
  (scene) => {
    const { alice } = scene.stage.keys;
    return jws({ ...headerOf(alice), ...header }, payloadOf(scene, more), by(alice));
  };

/** Alice's own signature under a text. */
const textOfAlice =
  (change: (text: string) => string): Forge =>
  (scene) => {
    const { alice } = scene.stage.keys;
    return jws(headerOf(alice), change(JSON.stringify(payloadOf(scene))), by(alice));
  };

const nowSeconds = () => Math.floor(Date.now() / 1_000);

const ofEngine =
  (more: JsonObject): Forge =>
  ({ stage, terms }) => {
    const { engine } = stage.keys;
    const { confirmation_id, arguments_digest, nonce, version, asker, server } = terms;
    const named = { confirmation_id, arguments_digest, nonce, version, asker, server };
    const payload = { ...named, decision: "approve", exp: nowSeconds() + 60 };
    return jws(headerOf(engine, "mcpx-policy+jwt"), { ...payload, ...more }, by(engine));
  };

const ofService =
  (more: JsonObject | ((scene: Scene) => JsonObject)): Forge =>
  (scene) => {
    const { service } = scene.stage.keys;
    const { confirmation_id, arguments_digest, aggregator_id: aud, version, asker, server } = scene.terms;
    const claims = { iss: serviceIssuer, jti: "j1", exp: nowSeconds() + 60 };
    const payload = { confirmation_id, arguments_digest, aud, version, asker, server, ...claims };
    const changed = typeof more === "function" ? more(scene) : more;
    return jws(headerOf(service, "mcpx-approval+jwt"), { ...payload, ...changed }, by(service));
  };

const stranger = newKey();
const base = (value: string) => Buffer.from(value).toString("base64url");

const wrongPeople: Record<string, Forge> = {
  "a key nobody knows": ({ terms }) => signed(stranger, terms),
  "a key nobody knows, under alice's name": (scene) =>
    jws(headerOf(scene.stage.keys.alice), payloadOf(scene), by(stranger)),
  "a key the proof brings itself": (scene) =>
    jws({ ...headerOf(stranger), jwk: { ...stranger.jwk } }, payloadOf(scene), by(stranger)),
  "a key at an address the proof names": (scene) =>
    jws({ ...headerOf(stranger), jku: "https://thief.example/keys" }, payloadOf(scene), by(stranger)),
  "a certificate the proof brings itself": (scene) =>
    jws({ ...headerOf(stranger), x5c: ["AAAA"] }, payloadOf(scene), by(stranger)),
  "the policy engine's key as an operator's": (scene) => signed(scene.stage.keys.engine, scene.terms),
  "the service's key as an operator's": (scene) => signed(scene.stage.keys.service, scene.terms),
  "alice's key as the policy engine's": (scene) =>
    jws(headerOf(scene.stage.keys.alice, "mcpx-policy+jwt"), payloadOf(scene), by(scene.stage.keys.alice)),
  "the agent's own token": ({ thief }) => thief.token,
};

const wrongThings: Record<string, Forge> = {
  "other arguments": ofAlice({ arguments_digest: `sha256:${"A".repeat(43)}` }),
  "another tool": ofAlice({ tool: "vault.look" }),
  "another route": ofAlice({ route: ["elsewhere", "vault", "open"] }),
  "the same route in other parts": ({ sign, terms }) =>
    sign("approve", { ...terms, route: [terms.route.join(".")] }),
  "another aggregator": ofAlice({ aggregator_id: "7f0c2a34-0000-4000-8000-000000000001" }),
  "another nonce": ofAlice({ nonce: "A".repeat(32) }),
  "another asker": ofAlice({ asker: "friend" }),
  "another server": ({ sign, terms }) =>
    sign("approve", { ...terms, server: { ...terms.server, identity: "stdio:other" } as ServerTerms }),
  "another tool of the server": ({ sign, terms }) =>
    sign("approve", { ...terms, server: { ...terms.server, tool: "look" } as ServerTerms }),
  "a statement of version 1": ofAlice({ version: undefined, asker: undefined, server: undefined }),
  "another end": ({ sign, terms }) => sign("approve", { ...terms, expires_at: terms.expires_at + 3_600 }),
  "another gate": ofAlice({ confirmation_id: "A".repeat(32) }),
  "a word like approve": ofAlice({ decision: "Approve" }),
  "approval as yes": ofAlice({ decision: true }),
  "a condition nobody reads": ofAlice({ only_if: "it rains" }),
  "a token of an expired policy": ofEngine({ exp: nowSeconds() - 120 }),
  "a policy from the future": ofEngine({ iat: nowSeconds() + 3_600 }),
  "a policy that begins later": ofEngine({ nbf: nowSeconds() + 3_600 }),
  "a policy without an end": ofEngine({ exp: "never" }),
  "a policy about another nonce": ofEngine({ nonce: "A".repeat(32) }),
  "a policy about another asker": ofEngine({ asker: "friend" }),
  "a policy that names no server": ofEngine({ server: undefined }),
  "a policy about other arguments": ofEngine({ arguments_digest: `sha256:${"A".repeat(43)}` }),
  "a service's token for another tree": ofService({ aud: "another" }),
  "a service's token for many trees": ofService(({ terms }) => ({ aud: [terms.aggregator_id] })),
  "a service's token for another asker": ofService({ asker: "friend" }),
  "a service's token that names no asker": ofService({ asker: undefined }),
  "a service's token for another server": ofService(({ terms }) => ({
    server: { ...terms.server, identity: "stdio:other" },
  })),
  "a service's token of version 1": ofService({ version: undefined, asker: undefined, server: undefined }),
  "a service's token without an id": ofService({ jti: "" }),
  "a service's token that has expired": ofService({ exp: nowSeconds() - 120 }),
  "a service's token by another issuer": ofService({ iss: "https://thief.example" }),
};

const wrongForms: Record<string, Forge> = {
  "an unsigned proof": (scene) =>
    jws({ ...headerOf(scene.stage.keys.alice), alg: "none" }, payloadOf(scene), unsigned),
  "an unsigned proof with alice's signature": ofAlice({}, { alg: "none" }),
  "HS256 with alice's public key": (scene) => {
    const { alice } = scene.stage.keys;
    const secret = Buffer.from(String((alice.jwk as { x?: string }).x), "base64url");
    return jws({ ...headerOf(alice), alg: "HS256" }, payloadOf(scene), byHmac(secret));
  },
  "HS256 with alice's public key as PEM": (scene) => {
    const { alice } = scene.stage.keys;
    const pem = alice.publicKey.export({ format: "pem", type: "spki" });
    return jws({ ...headerOf(alice), alg: "HS256" }, payloadOf(scene), byHmac(pem));
  },
  "EdDSA with HS256's signature": (scene) => {
    const { alice } = scene.stage.keys;
    return jws(headerOf(alice), payloadOf(scene), byHmac(JSON.stringify(alice.jwk)));
  },
  "alice's key as ES256": ofAlice({}, { alg: "ES256" }),
  "erin's P-256 key as EdDSA": (scene) => {
    const { erin } = scene.stage.keys;
    return jws({ ...headerOf(erin), alg: "EdDSA" }, payloadOf(scene), by(erin));
  },
  "ES256 with an empty signature of zeros": (scene) =>
    jws(headerOf(scene.stage.keys.erin), payloadOf(scene), () => Buffer.alloc(64)),
  "EdDSA with a signature of zeros": (scene) =>
    jws(headerOf(scene.stage.keys.alice), payloadOf(scene), () => Buffer.alloc(64)),
  "another type": ofAlice({}, { typ: "JWT" }),
  "the type of tokens": ofAlice({}, { typ: "at+jwt" }),
  "the type in other letters": ofAlice({}, { typ: "MCPX-PROOF+JWT" }),
  "a header that must be understood": ofAlice({}, { crit: ["exp"], exp: 1 }),
  "a payload that is not encoded": ofAlice({}, { crit: ["b64"], b64: false }),
  "a decision given twice": textOfAlice((text) => text.replace("{", '{"decision":"reject",')),
  "a decision given twice, once escaped": textOfAlice((text) =>
    text.replace("{", '{"d\\u0065cision":"reject",'),
  ),
  "an algorithm given twice": (scene) => {
    const { alice } = scene.stage.keys;
    const header = JSON.stringify(headerOf(alice)).replace("{", '{"alg":"none",');
    return jws(header, payloadOf(scene), by(alice));
  },
  "a payload that is a list": textOfAlice((text) => `[${text}]`),
  "a payload with half a character": textOfAlice((text) => text.slice(0, -3)),
  "padding behind it": (scene) => `${scene.sign()}=`,
  "blanks around it": (scene) => ` ${scene.sign()}`,
  "a fourth part": (scene) => `${scene.sign()}.AAAA`,
  "the other serialisation": (scene) => {
    const [header, payload, signature] = scene.sign().split(".");
    return JSON.stringify({ payload, signatures: [{ protected: header, signature }] });
  },
  "a passkey nobody has": () =>
    JSON.stringify({
      type: "webauthn",
      decision: "approve",
      credential_id: base("mine"),
      client_data: base("{}"),
      authenticator_data: base("x".repeat(37)),
      signature: base("x"),
    }),
  "a very long one": (scene) => `${scene.sign()}${"A".repeat(20_000)}`,
  "a word": () => "approved",
};

const table = (reason: string, proofs: Record<string, Forge>): Attack[] =>
  Object.entries(proofs).map(([what, forge]) => ({
    title: `[AX-11.3-2] brings ${what}: ${reason}`,
    strike: async (scene) => scene.refused(await forge(scene), reason),
  }));

const proofsThatAreNone: Attack = {
  title: "[AX-11.3-5] brings what is no text: bad_params",
  async strike(scene) {
    for (const proof of [undefined, null, 1, true, {}, [scene.sign()], ""]) {
      await scene.refused(proof, "bad_params");
    }
  },
};

const selfApprovals: Attack[] = [
  {
    title: "[AX-11.3-6] has a key that approves, and signs with it: self_approval",
    thief: ({ keys }) => ({ cnf: { jwk: keys.mirror.jwk } }),
    strike: (scene) => scene.refused(signed(scene.stage.keys.mirror, scene.terms), "self_approval"),
  },
  {
    title: "[AX-11.3-6] has the name of an approver, and signs with its key: self_approval",
    thief: () => ({ sub: "narcissus" }),
    strike: (scene) => scene.refused(signed(scene.stage.keys.narcissus, scene.terms), "self_approval"),
  },
  {
    title: "[AX-11.3-6] lets a service speak for it: self_approval",
    strike: async (scene) => {
      const sub = scene.thief.id;
      await scene.refused(ofService({ sub })(scene), "self_approval");
    },
  },
  {
    title: "[AX-11.3-6] brings a key to a call that somebody with that key has approved: it counts no more",
    async strike(scene) {
      const { stage, thief, terms, args } = scene;
      // The same principal, now with the key that would have approved.
      const keyed = await stage.agent({ sub: thief.id, cnf: { jwk: stage.keys.mirror.jwk } });
      expectSame(waitingOf(await keyed.call("vault.open", args)), terms);
      await scene.refused(signed(stage.keys.mirror, terms), "self_approval");
    },
  },
];

function expectSame(one: { confirmation_id: string }, other: { confirmation_id: string }): void {
  if (one.confirmation_id !== other.confirmation_id) throw new Error("the same call has another gate");
}

export const proofAttacks: readonly Attack[] = [
  ...table("bad_proof", wrongPeople),
  ...table("bad_proof", wrongThings),
  ...table("bad_proof", wrongForms),
  proofsThatAreNone,
  ...selfApprovals,
];
