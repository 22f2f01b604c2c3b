// Which level a participant gets at the endpoint: the sources in their order, and the three modes.
import { generateKeyPairSync } from "node:crypto";
import type { TokenClaims } from "@mcpx/host";
import type { Level } from "@mcpx/protocol";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { enter, enterWith, refusedOnConnect } from "../support/enter.ts";
import { startTestServer, type TestServer } from "../support/test-server.ts";

const identities: Record<string, { level: Level }> = {
  "known-full": { level: "full" },
  "known-responder": { level: "responder" },
  "known-restricted": { level: "restricted" },
};
const topic = "room:modes";
let mixed: TestServer;
let secure: TestServer;
let open: TestServer;

beforeAll(async () => {
  mixed = await startTestServer({ gateway: { identities } });
  secure = await startTestServer({ gateway: { identities, mode: "secure" } });
  open = await startTestServer({ gateway: { mode: "open" } });
});
afterAll(() => Promise.all([mixed.stop(), secure.stop(), open.stop()]));

async function levelOf(server: TestServer, id: string, level: Level | undefined): Promise<string> {
  const client = await enter(server, id, { topic, level });
  await client.leave();
  return client.welcome.payload.participant.privilege;
}

async function decide(
  server: TestServer,
  id: string,
  verb: "promote" | "demote",
  level: Level,
): Promise<void> {
  const path = `/admin/participants/${id}/${verb}?level=${level}`;
  expect((await server.call("POST", path, await server.adminToken())).status).toBe(200);
}

describe("[X1-5.1-1] [X1-5.1-3] [X1-6.2-1] in mixed mode the first source that says decides", () => {
  test.each<[string, Level | undefined, Level]>([
    ["stranger", undefined, "restricted"],
    ["stranger", "full", "full"],
    ["stranger", "responder", "responder"],
    ["known-full", undefined, "full"],
    ["known-responder", undefined, "responder"],
    ["known-full", "restricted", "restricted"],
    ["known-restricted", "full", "full"],
  ])("%s with a token that says %s is %s", async (id, inToken, expected) => {
    expect(await levelOf(mixed, id, inToken)).toBe(expected);
  });

  test("an admin's decision comes before all of them", async () => {
    expect(await levelOf(mixed, "known-full", "full")).toBe("full");
    await decide(mixed, "known-full", "demote", "restricted");
    expect(await levelOf(mixed, "known-full", "full")).toBe("restricted");
    await decide(mixed, "known-full", "promote", "responder");
    expect(await levelOf(mixed, "known-full", "full")).toBe("responder");
    await decide(mixed, "stranger", "promote", "full");
    expect(await levelOf(mixed, "stranger", "restricted")).toBe("full");
  });

  test("names every object has are nobody's identity", async () => {
    for (const id of ["constructor", "__proto__", "toString"]) {
      expect(await levelOf(mixed, id, undefined)).toBe("restricted");
    }
  });
});

describe("[X1-5.1-1] in secure mode", () => {
  test("who has no level from token, identity or admin is refused", async () => {
    const token = await secure.token({ sub: "stranger", topics: [topic] });
    expect((await refusedOnConnect(secure, token, { topic })).message).toBe("403 no_level");
    expect(await levelOf(secure, "stranger", "restricted")).toBe("restricted");
    expect(await levelOf(secure, "known-responder", undefined)).toBe("responder");
    await decide(secure, "stranger", "promote", "full");
    expect(await levelOf(secure, "stranger", undefined)).toBe("full");
  });

  test("[X0-5.1-3] who would be refused on connect reads nothing over REST, and an admin does", async () => {
    const resident = await enter(secure, "resident", { topic });
    await resident.ack(resident.say("for those with a level"));
    const outcomes = async (claims: Omit<TokenClaims, "topics">) => {
      const token = await secure.token({ ...claims, topics: [topic] });
      const paths = [`/v0/topics/${topic}/history`, `/v0/topics/${topic}/participants`, "/v0/topics"];
      const answers = await Promise.all(paths.map((path) => secure.call("GET", path, token)));
      return answers.map(({ status, body }) => body.error?.reason ?? status);
    };
    expect(await outcomes({ sub: "passer-by" })).toEqual(["no_level", "no_level", "no_level"]);
    expect(await outcomes({ level: "full" })).toEqual(["unauthorised", "unauthorised", "unauthorised"]);
    expect(await outcomes({ sub: "passer-by", level: "restricted" })).toEqual([200, 200, 200]);
    expect(await outcomes({ sub: "known-responder" })).toEqual([200, 200, 200]);
    expect(await outcomes({ sub: "operator", admin: true })).toEqual([200, 200, 200]);
    await resident.leave();
  });

  test("a refresh to a token without a level is refused and changes nothing", async () => {
    const connection = async () => {
      const { body } = await secure.call("GET", "/admin/connections", await secure.adminToken());
      return body.connections.find(
        ({ participantId }: { participantId: string }) => participantId === "fading",
      );
    };
    const client = await enter(secure, "fading", { topic });
    const before = await connection();
    expect(before.privilege).toBe("full");
    const token = await secure.token({ sub: "fading", topics: [topic] }, 3_600_000);
    const id = client.send({ kind: "system", payload: { type: "refresh", token } });
    expect(await client.outcome(id)).toBe("no_level");
    expect(await connection()).toEqual(before);
  });
});

describe("[X1-6.1-1] in open mode", () => {
  const anonymous: TokenClaims = { topics: [topic] };

  test("everybody is full, but a token is still needed", async () => {
    expect(await levelOf(open, "anyone", undefined)).toBe("full");
    expect(await levelOf(open, "humble", "restricted")).toBe("full");
    expect((await refusedOnConnect(open, undefined, { topic, id: "anyone" })).message).toBe(
      "401 unauthorised",
    );
  });

  test("who was demoted stays so", async () => {
    expect(await levelOf(open, "demoted", "full")).toBe("full");
    await decide(open, "demoted", "demote", "restricted");
    expect(await levelOf(open, "demoted", "full")).toBe("restricted");
  });

  test("[X0-4-7] a token without a subject may choose an id, one with a subject may not", async () => {
    const client = await enterWith(open, await open.token(anonymous), { topic, id: "chosen" });
    expect(client.welcome.payload.participant.id).toBe("chosen");
    const wrong = client.send({ kind: "chat", from: "other", payload: { text: "!" } });
    expect(await client.outcome(wrong)).toBe("wrong_from");
    await client.leave();
    const named = await open.token({ sub: "named", topics: [topic] });
    expect((await refusedOnConnect(open, named, { topic, id: "chosen" })).message).toBe("400 bad_request");
    await (await enterWith(open, named, { topic, id: "named" })).leave();
    expect((await refusedOnConnect(open, await open.token(anonymous), { topic })).message).toBe(
      "401 unauthorised",
    );
  });

  test("[X0-4-7] [X1-7.1-2] an id that a token names cannot be chosen, whether its owner is there or not", async () => {
    const nameless = await open.token(anonymous);
    const choose = async (id: string) => (await refusedOnConnect(open, nameless, { topic, id })).message;
    const owner = await enter(open, "owner", { topic });
    expect(await choose("owner")).toBe("400 bad_request");
    expect(await owner.outcome(owner.say("still here"))).toBe("ack");
    await owner.leave();
    expect(await choose("owner")).toBe("400 bad_request");
    // The control: what was only ever chosen may be chosen again, also while it is in use.
    const guest = await enterWith(open, nameless, { topic, id: "guest" });
    const jwk = generateKeyPairSync("ed25519").publicKey.export({ format: "jwk" });
    await guest.ack(guest.send({ kind: "system", payload: { type: "key", jwk } }));
    const again = await enterWith(open, nameless, { topic, id: "guest" });
    expect((await guest.closing()).code).toBe(4409);
    await again.leave();
  });

  test("[X0-5.1-3] a token without a subject reads over REST, since it could enter", async () => {
    const { status } = await open.call("GET", `/v0/topics/${topic}/history`, await open.token(anonymous));
    expect(status).toBe(200);
  });

  test.each(["system:gateway", "System:x", "gateway", "GATEWAY", "system", "two words", ""])(
    "[X0-9-3] nobody can choose the id %j",
    async (id) => {
      const refusal = await refusedOnConnect(open, await open.token(anonymous), { topic, id });
      expect(refusal.status).toBe(400);
    },
  );
});

test("[X0-4-7] elsewhere the id comes from the token and from nowhere else", async () => {
  const named = await mixed.token({ sub: "named", topics: [topic] });
  // Before somebody has entered there is no such topic to read.
  await (await enterWith(mixed, named, { topic })).leave();
  expect((await refusedOnConnect(mixed, named, { topic, id: "other" })).message).toBe("400 bad_request");
  const nameless = await mixed.token({ topics: [topic], level: "full" });
  expect((await refusedOnConnect(mixed, nameless, { topic })).message).toBe("401 unauthorised");
  expect((await refusedOnConnect(mixed, nameless, { topic, id: "other" })).message).toBe("400 bad_request");
  for (const path of ["/v0/topics", `/v0/topics/${topic}/history`, `/v0/topics/${topic}/participants`]) {
    const { status, body } = await mixed.call("GET", path, nameless);
    expect(`${status} ${body.error?.reason}`).toBe("401 unauthorised");
    expect((await mixed.call("GET", path, named)).status).toBe(200);
  }
});
