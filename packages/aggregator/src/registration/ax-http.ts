// `/ax` over HTTP: a POST with `mcpax/register` is answered by a stream of events that carries the requests; what the
// registrant says later is POSTed with `Mcpax-Session`. [AX-6.1-3]
import { randomUUID } from "node:crypto";
import type { HttpRequest, HttpResponse, ResponseStream, Route } from "@mcpx/host";
import { isObject, type JsonObject, type Limits, McpxError, registrationMethods } from "@mcpx/protocol";
import type { Reply } from "../endpoints/reply.ts";
import { sseEvent, sseHeaders, sseKeepAlive } from "../mcp/event-stream.ts";
import { headerOf } from "../mcp/mcp-headers.ts";
import { isId } from "../mcp/message.ts";
import type { AxVisits } from "./ax-visits.ts";
import type { Channel } from "./channel.ts";
import { readAxMessage } from "./read-ax-message.ts";
import { type Credential, isSameCredential } from "./registrar.ts";
import type { Registrant } from "./serve-registrant.ts";

interface Session {
  credential: Credential;
  registrant: Registrant;
  channel: Channel;
}

const sessionHeader = "mcpax-session";
const keepAliveMs = 15_000;

export function createAxHttp(visits: AxVisits, limits: Limits): Route[] {
  const sessions = new Map<string, Session>();

  async function post(request: HttpRequest): Promise<HttpResponse> {
    const credential = await visits.identify(request);
    const message = readAxMessage(await request.text());
    const id = headerOf(request.headers, sessionHeader);
    if (id !== undefined) return say(sessions.get(id), credential, message, request);
    if (message.method !== registrationMethods.register) {
      throw new McpxError("bad_request", `${registrationMethods.register} comes first`);
    }
    return open(request, credential, message);
  }

  function open(request: HttpRequest, credential: Credential, message: JsonObject): HttpResponse {
    visits.checkPlace(credential);
    const id = randomUUID();
    const { channel, attach, lost } = streamChannel();
    const registrant = visits.begin(channel, credential, id);
    sessions.set(id, { credential, registrant, channel });
    void channel.ended.then(() => sessions.delete(id));
    request.onGone(lost);
    return {
      headers: { ...sseHeaders, "mcpax-session": id },
      stream(out) {
        attach(out);
        registrant.take(message);
      },
    };
  }

  return [{ method: "POST", path: "/ax", handle: post, bodyBytesMax: limits.mcpBodyBytesMax }];
}

async function say(
  session: Session | undefined,
  credential: Credential,
  message: JsonObject,
  request: HttpRequest,
): Promise<HttpResponse> {
  // A session of another credential is answered like one that does not exist.
  if (session === undefined || !isSameCredential(session.credential, credential)) {
    throw new McpxError("registration_unknown");
  }
  const { registrant, channel } = session;
  const isRequest = typeof message.method === "string" && isId(message.id);
  if (!isRequest) {
    registrant.take(message);
    return { status: 202 };
  }
  const { promise, resolve } = Promise.withResolvers<HttpResponse>();
  const reply: Reply = {
    isBehind: false,
    // The response is for the answer alone.
    before: channel.send,
    answer: (body) => resolve({ body }),
    drop: () => resolve({ status: 202 }),
    onCut: (callback) => request.onGone(callback),
  };
  registrant.take(message, { reply, credential });
  return promise;
}

interface StreamChannel {
  channel: Channel;
  attach(out: ResponseStream): void;
  lost(): void;
}

function streamChannel(): StreamChannel {
  const { promise: ended, resolve } = Promise.withResolvers<string>();
  let out: ResponseStream | undefined;
  const timer = setInterval(() => out?.write(sseKeepAlive), keepAliveMs).unref();
  void ended.then(() => clearInterval(timer));
  return {
    attach(stream) {
      out = stream;
    },
    lost: () => resolve("the stream has ended"),
    channel: {
      ended,
      // The stream has bounds of its own, and ends where they are passed.
      waitingBytes: 0,
      send(message) {
        if (isObject(message)) out?.write(sseEvent(message));
      },
      close(_code, why) {
        out?.end();
        resolve(why);
      },
    },
  };
}
