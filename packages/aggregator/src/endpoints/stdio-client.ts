// The one client of the stdio endpoint: what it says, in which era, and to whom that goes.
import { randomUUID } from "node:crypto";
import { createByteLedger, type Principal } from "@mcpx/host";
import type { JsonObject } from "@mcpx/protocol";
import { readProofs } from "../dispatch/joint-proofs.ts";
import { createAccounts } from "../mcp/accounts.ts";
import { readAsker } from "../mcp/asker.ts";
import type { Caller } from "../mcp/exchange.ts";
import {
  errorMessage,
  isId,
  type Message,
  type RpcNotification,
  type RpcRequest,
  readMessage,
  resultMessage,
} from "../mcp/message.ts";
import { principalName } from "../mcp/plain-caller.ts";
import { faultOf, rpcCodes, rpcError } from "../mcp/rpc-error.ts";
import type { Tree } from "../mcp/tree.ts";
import { readBatch, sharedReply } from "./batch.ts";
import { dialectFor } from "./dialect-for.ts";
import { eraOf } from "./era-of.ts";
import { readHello } from "./hello.ts";
import { createLegacySession, type LegacySession } from "./legacy-session.ts";
import type { LineReplies } from "./line-replies.ts";
import type { MessageEndpointOptions } from "./message-endpoint.ts";
import { createModern } from "./modern.ts";
import { checkRevision, readRequestMeta } from "./request-meta.ts";

export interface StdioClientOptions extends MessageEndpointOptions {
  tree: Tree;
  /** Asked anew for every request where it can change. */
  principal: Principal | (() => Principal);
  replies: LineReplies;
  writeAside(message: JsonObject): void;
  isBehind(): boolean;
}

export interface StdioClient {
  /** One line. Throws what its sender is to be told. */
  take(value: unknown): Promise<void>;
  sweep(): void;
  /** The client asks nothing more. */
  end(): void;
  close(): void;
}

export function createStdioClient(options: StdioClientOptions): StdioClient {
  const { tree, replies, log, clock, limits, names = null, profile, writeAside, isBehind } = options;
  const { ownSegment, principal: given } = options;
  const principal = typeof given === "function" ? given : () => given;
  const accounts = createAccounts(createByteLedger(limits));
  const modern = createModern({ tree, accounts, clock, log, limits });
  const key = `stdio:${randomUUID()}`;
  let session: LegacySession | undefined;

  function callModern(message: RpcRequest): void {
    const { revision, capabilities, info, logLevel } = readRequestMeta(message.params);
    checkRevision(revision);
    const isParent = ownSegment !== undefined;
    const dialect = dialectFor({ names, profile, capabilities, isParent });
    const caller: Caller = {
      principal: principal(),
      key,
      era: "modern",
      capabilities,
      info,
      dialect,
      profile,
      logLevel,
      isParent,
      ...(ownSegment !== undefined && {
        asker: readAsker(message.params, principalName(principal())),
        proofs: readProofs(message.params),
      }),
      ownSegment,
    };
    modern.serve({ message, caller, paramHeaders: {}, reply: replies.open([message.id]) });
  }

  async function initialize({ id, params }: RpcRequest): Promise<void> {
    const hello = readHello(params);
    const { capabilities } = hello;
    const dialect = dialectFor({ names, profile, capabilities, isParent: ownSegment !== undefined });
    const reply = replies.open([id]);
    const opened = createLegacySession({
      tree,
      log,
      limits,
      account: accounts.of(principal()),
      principal,
      key,
      dialect,
      profile,
      hello,
      aside: {
        isOpen: true,
        get isBehind() {
          return isBehind();
        },
        send: writeAside,
      },
    });
    session = opened;
    try {
      reply.answer(resultMessage(id, await opened.greet()));
    } catch (error) {
      session = undefined;
      opened.close();
      reply.answer(errorMessage(id, faultOf(error)));
    }
  }

  function callLegacy(message: RpcRequest): void {
    if (session !== undefined) session.request(message, replies.open([message.id]));
    else if (message.method === "ping") replies.open([message.id]).answer(resultMessage(message.id, {}));
    else throw rpcError(rpcCodes.invalidRequest, "Invalid Request: initialize first");
  }

  function hear(message: RpcNotification): void {
    const { requestId } = message.params;
    // Whichever era it is of: there is one channel, and one kind of cancellation.
    if (message.method === "notifications/cancelled" && isId(requestId)) replies.cut(requestId);
    else session?.notification(message);
  }

  async function takeOne(message: Message): Promise<void> {
    if (message.kind === "response") session?.response(message);
    else if (message.kind === "notification") hear(message);
    else if (eraOf(message, undefined) === "modern") callModern(message);
    else if (message.method === "initialize" && session === undefined) await initialize(message);
    else callLegacy(message);
  }

  async function takeBatch(values: readonly unknown[]): Promise<void> {
    const messages = readBatch(session?.revision, values);
    const requests = messages.filter((message) => message.kind === "request");
    const reply = sharedReply(replies.open(requests.map(({ id }) => id)), requests.length);
    for (const message of messages) {
      if (message.kind === "request") session?.request(message, reply);
      else await takeOne(message);
    }
  }

  return {
    take: async (value) => (Array.isArray(value) ? takeBatch(value) : takeOne(readMessage(value))),
    sweep: modern.sweep,
    end: modern.drain,
    close() {
      modern.drain();
      replies.cutAll();
      session?.close();
    },
  };
}
