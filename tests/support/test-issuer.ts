// Another issuer: it signs tokens and shows its keys over HTTP, as long as it is up.
import { generateKeyPairSync, randomUUID, sign } from "node:crypto";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

export interface TestIssuer {
  readonly issuer: string;
  readonly jwksUri: string;
  token(claims: Record<string, unknown>, ttlS?: number): string;
  /** Lets nobody have the keys until the returned function is called; `asked` resolves when somebody wants them. */
  hold(): { asked: Promise<void>; release: () => void };
  up(): Promise<void>;
  down(): Promise<void>;
}

export async function startTestIssuer(): Promise<TestIssuer> {
  const { publicKey, privateKey } = generateKeyPairSync("ed25519");
  const kid = randomUUID();
  const keys = [{ ...publicKey.export({ format: "jwk" }), kid, alg: "EdDSA", use: "sig" }];
  let asked = () => {};
  let held: Promise<void> | undefined;
  const server = createServer(async (_request, response) => {
    asked();
    await held;
    response.writeHead(200, { "content-type": "application/json", connection: "close" });
    response.end(JSON.stringify({ keys }));
  });
  const listen = (port: number) =>
    new Promise<void>((resolve) => server.listen({ port, host: "127.0.0.1" }, () => resolve()));
  await listen(0);
  const { port } = server.address() as AddressInfo;
  const issuer = `http://127.0.0.1:${port}`;
  const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64url");
  return {
    issuer,
    jwksUri: `${issuer}/keys`,
    token(claims, ttlS = 600) {
      const iat = Math.floor(Date.now() / 1_000);
      const body = { iss: issuer, iat, exp: iat + ttlS, jti: randomUUID(), ...claims };
      const signed = `${encode({ alg: "EdDSA", typ: "mcpx+jwt", kid })}.${encode(body)}`;
      return `${signed}.${sign(null, Buffer.from(signed), privateKey).toString("base64url")}`;
    },
    hold() {
      const { promise, resolve } = Promise.withResolvers<void>();
      const question = Promise.withResolvers<void>();
      held = promise;
      asked = question.resolve;
      return { asked: question.promise, release: resolve };
    },
    up: () => listen(port),
    down: () => new Promise((resolve) => server.close(() => resolve())),
  };
}
