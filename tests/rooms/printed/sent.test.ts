// Every message the documents print for a participant, sent literally over a WebSocket: it is acknowledged, and everybody
// gets its bytes.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startTestServer, type TestServer } from "../../support/test-server.ts";
import { allSent, type Printed } from "./messages.ts";
import { setStage } from "./stage.ts";

let server: TestServer;
beforeAll(async () => {
  // Each message has members of its own, all by the same names.
  server = await startTestServer({ limits: { handshakesPerSecond: 100_000 } });
});
afterAll(() => server.stop());

const cases = allSent.map((printed, at) => ({ ...printed, at }));

describe("printed messages", () => {
  test.each(cases)("$ids $title", async ({ at, ...printed }: Printed & { at: number }) => {
    const { sender, observer } = await setStage(server, printed, `printed/${at}`);
    sender.ws.send(printed.text);
    const ack = await sender.find(({ payload }) => payload.event === "ack" || payload.event === "error");
    expect(ack.payload.event, JSON.stringify(ack.payload)).toBe("ack");
    const delivered = await observer.find(({ from }) => from === sender.id);
    const { added = [] } = printed;
    const rest = Object.fromEntries(Object.entries(delivered).filter(([name]) => !added.includes(name)));
    expect(rest).toEqual(JSON.parse(printed.text));
    for (const name of added) expect(delivered[name], name).toBeDefined();
    expect(delivered.id).toBe(ack.payload.id);
    // The bytes of the payload, white space included. [X0-7-3]
    const payload = printed.text.slice(printed.text.indexOf('"payload":') + 10).replace(/\s*\}\s*$/, "");
    expect(observer.texts.at(-1)).toContain(payload);
    await Promise.all([sender.leave(), observer.leave()]);
  });
});
