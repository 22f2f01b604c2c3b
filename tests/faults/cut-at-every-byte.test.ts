// A connection may break between any two bytes. Wherever it does, the client resumes to the same story.
import { expect, test } from "vitest";
import { ResumingClient } from "../support/resuming-client.ts";
import { TestClient } from "../support/test-client.ts";
import { startTestServer } from "../support/test-server.ts";
import { startFaultProxy } from "./support/fault-proxy.ts";

const isSoak = process.env.MCPX_SOAK === "1";
/** Every byte in the soak; here every byte of the handshake's end and the first frames, then strides. */
const stride = isSoak ? 1 : 13;

async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await new Promise((resolve) => setTimeout(resolve, 2));
}

test("[B-RESUME-1] cut at any byte of what the server sends, a client resumes without gap or double", {
  timeout: isSoak ? 600_000 : 60_000,
}, async () => {
  const limits = { handshakesPerSecond: 100_000, envelopesPerSecondFull: 100_000 };
  const server = await startTestServer({ limits });
  const proxy = await startFaultProxy(Number(new URL(server.url).port));
  const speaker = await TestClient.connect(
    server.url,
    await server.token({ sub: "speaker", topics: ["story"], level: "full" }),
    { topic: "story" },
  );
  const token = await server.token({ sub: "reader", topics: ["story"], level: "full" });
  const texts = ["once", "upon", "a time", "there was a robot", "and so on"];
  for (const text of texts) await speaker.ack(speaker.say(text));
  const { body } = await server.call("GET", "/v0/topics/story/history", token);
  // biome-ignore lint/suspicious/noExplicitAny: the REST answer
  const envelopes = (body as any).envelopes.toReversed();
  const epoch = (await TestClient.connect(server.url, token, { topic: "story" }).then(async (client) => {
    const welcome = await client.next();
    await client.leave();
    return welcome.payload.history.epoch;
  })) as string;

  let cuts = 0;
  // The whole script, handshake included, is about 2 500 bytes; far past its end nothing is cut.
  for (let at = 1; at < 2_600; at += at < 200 ? 29 : stride) {
    const reader = new ResumingClient(() => `ws://127.0.0.1:${proxy.port}/v0/ws?topic=story`, token);
    reader.position = { epoch, seq: 0 };
    proxy.cutAfter(at);
    const running = reader.run();
    await until(() => reader.position?.seq === texts.length);
    reader.stop();
    await running;
    if (reader.connects !== 1 || reader.seen.length !== texts.length) cuts += 1;
    expect(reader.faults, `cut at byte ${at}`).toEqual([]);
    expect(
      reader.seen.map(({ seq, id }) => [seq, id]),
      `cut at byte ${at}`,
    ).toEqual(
      // biome-ignore lint/suspicious/noExplicitAny: the REST answer
      envelopes.map(({ seq, id }: any) => [seq, id]),
    );
  }
  // Control: the cuts did fall into the stream, between its beginning and its end.
  expect(cuts).toBeGreaterThan(10);
  await speaker.leave();
  await proxy.close();
  await server.stop();
});
