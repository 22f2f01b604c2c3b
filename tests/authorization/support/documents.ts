// A site whose documents describe clients, over TLS on this machine: as they should be, and as nobody should believe.
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { getCACertificates, setDefaultCACertificates } from "node:tls";
import { makeAuthority, makeCertificate } from "@mcpx/host";

export interface Documents {
  /** The address of a document, which is the client's id. */
  at(path: string): string;
  /** How often each was asked for. */
  readonly asked: string[];
  close(): Promise<void>;
}

const dayMs = 86_400_000;

export async function serveDocuments(
  write: (
    id: string,
    path: string,
  ) => { status?: number; text: string; headers?: Record<string, string> } | undefined,
): Promise<Documents> {
  const span = { from: new Date(Date.now() - dayMs), until: new Date(Date.now() + dayMs) };
  const authority = makeAuthority({ name: "Documents", ...span });
  const { cert, key } = makeCertificate(
    { use: "server", names: ["localhost", "127.0.0.1"], ...span },
    authority,
  );
  const before = getCACertificates("default");
  setDefaultCACertificates([...before, authority.cert]);
  const asked: string[] = [];
  let origin = "";
  const server = createServer({ cert, key }, (request, response) => {
    const path = request.url ?? "/";
    asked.push(path);
    const answer = write(`${origin}${path}`, path);
    // A site that says nothing.
    if (answer === undefined) return;
    response.writeHead(answer.status ?? 200, { "content-type": "application/json", ...answer.headers });
    response.end(answer.text);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  origin = `https://localhost:${(server.address() as AddressInfo).port}`;
  return {
    at: (path) => `${origin}${path}`,
    asked,
    close: () =>
      new Promise((resolve) => {
        setDefaultCACertificates(before);
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
