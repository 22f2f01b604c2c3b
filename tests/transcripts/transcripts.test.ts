// Every transcript of spec/transcripts is a test of its own, against a gateway configured as it wants.
import { join } from "node:path";
import { configurationOf, play, readTranscript, readTranscripts } from "@mcpx/conform";
import type { TokenClaims } from "@mcpx/host";
import { test } from "vitest";
import { startTestServer, type TestServer } from "../support/test-server.ts";
import { trimLog } from "../support/trim-log.ts";

const folder = join(import.meta.dirname, "..", "..", "spec", "transcripts");

for (const { file, text } of readTranscripts(folder)) {
  const transcript = readTranscript(text);
  test.concurrent(`${transcript.title} (${file})`, async () => {
    const server = await startTestServer(JSON.parse(configurationOf(transcript) ?? "{}"));
    try {
      await play(transcript, keptTarget(server));
    } finally {
      await server.stop();
    }
  });
}

function keptTarget(server: TestServer) {
  return {
    url: server.url,
    mint: (claims: object) => server.token(claims as TokenClaims),
    restart: () => server.restart(),
    trim: (topic: string, count: number) => trimLog(server, topic, count),
  };
}
