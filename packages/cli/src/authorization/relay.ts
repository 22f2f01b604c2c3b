// A request of the gateway's listener, answered by a library that needs Node's own HTTP objects. It goes over a pair of streams
// in memory: both ends speak real HTTP, and nothing listens.
import { createServer, type IncomingMessage, type RequestListener, request as sendRequest } from "node:http";
import { duplexPair } from "node:stream";

export interface Relayed {
  method: string;
  /** Path and query. */
  target: string;
  headers: Readonly<Record<string, string>>;
  body?: string | undefined;
}

export interface RelayedAnswer {
  status: number;
  headers: IncomingMessage["headers"];
  text: string;
}

export async function relay(listener: RequestListener, given: Relayed): Promise<RelayedAnswer> {
  const [ours, theirs] = duplexPair();
  const server = createServer(listener);
  const length = given.body === undefined ? {} : { "content-length": String(Buffer.byteLength(given.body)) };
  const sent = sendRequest({
    method: given.method,
    path: given.target,
    headers: { ...given.headers, ...length },
    createConnection: () => ours,
  });
  try {
    const answered = new Promise<IncomingMessage>((resolve, reject) => {
      sent.once("response", resolve).once("error", reject);
    });
    server.emit("connection", theirs);
    sent.end(given.body);
    const answer = await answered;
    const chunks: Buffer[] = [];
    for await (const chunk of answer as AsyncIterable<Buffer>) chunks.push(chunk);
    const { statusCode: status = 500, headers } = answer;
    return { status, headers, text: Buffer.concat(chunks).toString() };
  } finally {
    ours.destroy();
    theirs.destroy();
  }
}
