// Somebody who logs in with a passkey in software, over plain HTTP: as a browser would, and as no browser does.
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { GateTerms } from "@mcpx/protocol";
import {
  type AssertionWish,
  softPasskey,
} from "../../../packages/aggregator/src/gates/testing/soft-passkey.ts";
import type { TestServer } from "../../support/test-server.ts";

interface Answer {
  status: number;
  body: Record<string, unknown>;
  setCookie: string;
}

interface LoginOptions {
  ticket: string;
  challenge: string;
  rpId: string;
}

export interface PasskeyVisitor {
  origin: string;
  /** Who they are approvers as. */
  name: string;
  options(headers?: Record<string, string>): Promise<Answer & { given: LoginOptions }>;
  /** The signed challenge, as browsers give it. */
  sign(wish: AssertionWish & { challenge: string }): Promise<object>;
  send(body: object, headers?: Record<string, string>): Promise<Answer>;
  /** All three, as they should be but for the wish. */
  logIn(wish?: AssertionWish): Promise<Answer>;
  session(login: Answer, path?: string, init?: RequestInit): Promise<number>;
  remove(): void;
}

interface EnrolledAs {
  name?: string;
  mayLogIn?: unknown;
  /** Where it was made; the server's own address unless given. */
  origin?: string;
  rpId?: string;
}

export function enrolled(server: TestServer, as: EnrolledAs = {}): PasskeyVisitor {
  const { name = "anna", mayLogIn = true } = as;
  const origin = server.url.replace("127.0.0.1", "localhost");
  const soft = softPasskey();
  // One of its own for everybody.
  const credentialId = Buffer.from(`credential of ${name}`).toString("base64url");
  const passkey = {
    ...soft.passkey,
    credentialId,
    origin: as.origin ?? origin,
    rpId: as.rpId ?? "localhost",
  };
  const dir = join(server.dataDir, "approvers");
  mkdirSync(dir, { recursive: true, mode: 0o700 });
  const file = join(dir, `${name}.json`);
  writeFileSync(file, JSON.stringify({ name, passkey, mayLogIn }), { mode: 0o600 });
  // Done before the next request is: resets wait for nobody.
  void server.forgetApprovers();

  const post = async (path: string, body: object, headers: Record<string, string> = {}): Promise<Answer> => {
    const response = await fetch(`${origin}${path}`, {
      method: "POST",
      headers: { "content-type": "application/json", origin, ...headers },
      body: JSON.stringify(body),
    });
    const text = await response.text();
    return {
      status: response.status,
      body: JSON.parse(text) as Record<string, unknown>,
      setCookie: response.headers.get("set-cookie") ?? "",
    };
  };
  const visitor: PasskeyVisitor = {
    origin,
    name,
    async options(headers) {
      const answer = await post("/console/login/options", {}, headers);
      return { ...answer, given: answer.body as unknown as LoginOptions };
    },
    async sign(wish) {
      const proof = await soft.prove({} as GateTerms, { origin, ...wish });
      const { client_data, authenticator_data, signature } = JSON.parse(proof) as Record<string, string>;
      const response = { clientDataJSON: client_data, authenticatorData: authenticator_data, signature };
      return { id: credentialId, response };
    },
    send: (body, headers) => post("/console/login", body, headers),
    async logIn(wish = {}) {
      const { given } = await visitor.options();
      const credential = await visitor.sign({ challenge: given.challenge, ...wish });
      return visitor.send({ ticket: given.ticket, credential });
    },
    async session({ setCookie, body }, path = "/console/api/session", init = {}) {
      const [cookie = ""] = setCookie.split(";");
      const headers = { origin, cookie, "x-mcpx-console": String(body.half), ...init.headers };
      return (await fetch(`${origin}${path}`, { ...init, headers })).status;
    },
    remove: () => rmSync(file),
  };
  return visitor;
}
