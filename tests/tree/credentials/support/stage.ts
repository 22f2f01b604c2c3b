// An authorization server, a server that trusts it, and a person with a browser.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createManualClock, type ManualClock } from "@mcpx/host";
import type { CredentialStore } from "../../../../packages/aggregator/src/oauth/credential-store.ts";
import { createFileCredentialStore } from "../../../../packages/aggregator/src/oauth/credential-store-files.ts";
import type { Credentials } from "../../../../packages/aggregator/src/oauth/credentials.ts";
import {
  createOAuthCredentials,
  type OAuthCredentialsOptions,
} from "../../../../packages/aggregator/src/oauth/oauth-credentials.ts";
import {
  type AuthorizationServer,
  type Behaviour,
  startAuthorizationServer,
} from "./authorization-server.ts";
import { type ProtectedServer, request, startProtectedServer } from "./protected-server.ts";

export interface Stage {
  readonly issuer: AuthorizationServer;
  readonly server: ProtectedServer;
  readonly store: CredentialStore;
  readonly clock: ManualClock;
  /** Addresses the person was sent to. */
  readonly shown: URL[];
  /** What pages the person saw in the end. */
  readonly pages: { status: number; text: string }[];
  credentials(options?: Partial<OAuthCredentialsOptions>): Credentials;
  /** A request that needs what `name` needs; the status it got in the end. */
  request(credentials: Credentials, name?: string): Promise<number>;
  stop(): Promise<void>;
}

export async function openStage(behaviour: Behaviour = {}): Promise<Stage> {
  const issuer = await startAuthorizationServer(behaviour);
  const server = await startProtectedServer(issuer);
  const directory = await mkdtemp(join(tmpdir(), "mcpx-stage-"));
  const store = await createFileCredentialStore(directory);
  const clock = createManualClock();
  const shown: URL[] = [];
  const pages: { status: number; text: string }[] = [];

  async function authorise(url: URL): Promise<void> {
    shown.push(url);
    const page = await fetch(url);
    pages.push({ status: page.status, text: await page.text() });
  }

  return {
    issuer,
    server,
    store,
    clock,
    shown,
    pages,
    credentials: (options) =>
      createOAuthCredentials({ key: "s", url: server.url, store, clock, authorise, ...options }),
    request: (credentials, name = "") => request(`${server.url}?do=${name}`, credentials),
    stop: async () => {
      await Promise.all([issuer.stop(), server.stop()]);
      await rm(directory, { recursive: true });
    },
  };
}
