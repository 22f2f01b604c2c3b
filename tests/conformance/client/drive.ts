// The client the public conformance suite drives: it opens a link as the tree does towards its servers and uses whatever
// the server offers. It knows no scenario; what the suite hands it is an address, credentials and calls to make.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isMcpxError, isObject, type JsonObject } from "@mcpx/protocol";
import type { Link } from "../../../packages/aggregator/src/links/link.ts";
import { openLink } from "../../../packages/aggregator/src/links/open-link.ts";
import { createFileCredentialStore } from "../../../packages/aggregator/src/oauth/credential-store-files.ts";
import type { Credentials } from "../../../packages/aggregator/src/oauth/credentials.ts";
import { createOAuthCredentials } from "../../../packages/aggregator/src/oauth/oauth-credentials.ts";
import { answerQuestion } from "./answer-question.ts";
import { useServer } from "./use-server.ts";

export async function drive(url: string, context: JsonObject): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), "mcpx-conformance-"));
  try {
    const credentials = await credentialsFor(url, context, directory);
    const link = await open(url, credentials).catch((error: unknown) => {
      // A server that would not be opened is opened again with the next request.
      if (isMcpxError(error) && error.code === "bad_server_answer") return open(url, credentials);
      throw error;
    });
    try {
      await useServer(link, Array.isArray(context.toolCalls) ? context.toolCalls.filter(isObject) : []);
    } finally {
      await link.close();
    }
  } finally {
    await rm(directory, { recursive: true });
  }
}

async function credentialsFor(url: string, context: JsonObject, directory: string): Promise<Credentials> {
  return createOAuthCredentials({
    key: "suite",
    url,
    store: await createFileCredentialStore(directory),
    config: {
      clientId: textOf(context.client_id),
      clientSecret: textOf(context.client_secret),
      issuer: textOf(context.issuer),
      // The one the suite expects of clients that have such a document.
      clientMetadataUrl: "https://conformance-test.local/client-metadata.json",
    },
    // The suite's authorization servers ask nobody: whoever comes by is sent on.
    async authorise(address) {
      await fetch(address);
    },
  });
}

function open(url: string, credentials: Credentials): Promise<Link> {
  return openLink(
    {
      name: "suite",
      transport: { type: "http", url, credentials },
      clientInfo: { name: "mcpx", version: "0.1.0" },
      capabilities: { elicitation: { form: {} } },
    },
    {
      notification: () => {},
      question: async (question) => answerQuestion(question),
      logLine: (line) => void process.stderr.write(`${line}\n`),
    },
  );
}

function textOf(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}
