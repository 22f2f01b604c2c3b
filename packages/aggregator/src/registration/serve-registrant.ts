// One channel from its first message to its last: the registration on it, and the handling of its messages.
import { randomUUID } from "node:crypto";
import {
  closeCodes,
  errorTable,
  isMcpxError,
  isObject,
  isUuid,
  type JsonObject,
  McpxError,
  registrationMethods,
} from "@mcpx/protocol";
import type { Reply } from "../endpoints/reply.ts";
import { errorMessage, isId, type RequestId, readMessage, resultMessage } from "../mcp/message.ts";
import { faultOf } from "../mcp/rpc-error.ts";
import type { Channel } from "./channel.ts";
import type { WireEnd } from "./channel-wire.ts";
import { deregister } from "./deregister.ts";
import { heartbeat } from "./heartbeat.ts";
import { askForLists } from "./mount.ts";
import { checkDoubled } from "./read-ax-message.ts";
import { register } from "./register.ts";
import type { Credential, RegistrarState, Subserver } from "./registrar.ts";
import { createCalls, isCall, type SubserverCalls } from "./serve-calls.ts";
import { update } from "./update.ts";

export interface Registrant {
  /** One message. Where it has a reply and a credential of its own, those count instead of the channel's. */
  take(message: JsonObject, own?: { reply: Reply; credential: Credential }): void;
  readonly subserver: Subserver | undefined;
}

interface Occasion {
  /** The stream's own, where there is one. */
  sessionId?: string | undefined;
  /** Called once it has registered: the time to register ends. */
  registered(): void;
}

const parentMs = 1_000;
const parentQuestion = "mcpax-parent";

export function serveRegistrant(
  state: RegistrarState,
  channel: Channel,
  credential: Credential,
  { sessionId = randomUUID(), registered: noteRegistered }: Occasion,
): Registrant {
  const wireEnd: WireEnd = { taker: undefined };
  let subserver: Subserver | undefined;
  let calls: SubserverCalls | undefined;
  let hasBegun = false;
  let isApplying = false;
  let isRefused = false;
  let heardParent: ((message: JsonObject | undefined) => void) | undefined;

  async function askParent(): Promise<string | null | undefined> {
    const { promise, resolve } = Promise.withResolvers<JsonObject | undefined>();
    heardParent = resolve;
    const timer = setTimeout(resolve, parentMs, undefined);
    void channel.ended.then(() => resolve(undefined));
    channel.send({ jsonrpc: "2.0", id: parentQuestion, method: registrationMethods.parent, params: {} });
    const answer = await promise;
    clearTimeout(timer);
    heardParent = undefined;
    const parent = isObject(answer?.result) ? answer.result.parent_id : undefined;
    if (parent === null) return null;
    // Whatever is no id is no answer.
    const id = typeof parent === "string" ? parent.toLowerCase() : undefined;
    return isUuid(id) ? id : undefined;
  }

  async function begin(params: JsonObject): Promise<JsonObject> {
    if (hasBegun) throw new McpxError("bad_request", "this connection has registered already");
    hasBegun = true;
    isApplying = true;
    try {
      const registered = await register(
        state,
        { credential, channel, wireEnd, sessionId, askParent },
        params,
      );
      ({ subserver } = registered);
      calls = createCalls(state, subserver);
      noteRegistered();
      return { ...registered.answer };
    } finally {
      isApplying = false;
    }
  }

  function session(params: JsonObject): Subserver {
    if (subserver === undefined || subserver.isOver || params.session_id !== subserver.sessionId) {
      throw new McpxError("registration_unknown");
    }
    return subserver;
  }

  async function handle(method: string, params: JsonObject): Promise<JsonObject> {
    switch (method) {
      case registrationMethods.register:
        return begin(params);
      case registrationMethods.heartbeat:
        return heartbeat(state, session(params));
      case registrationMethods.update:
        return update(state, session(params), params);
      case registrationMethods.deregister:
        return deregister(state, session(params));
      default:
        throw new McpxError("unknown_method", method.slice(0, 100));
    }
  }

  async function request(
    id: RequestId,
    method: string,
    message: JsonObject,
    { answer }: Pick<Reply, "answer">,
  ): Promise<void> {
    const params = isObject(message.params) ? message.params : {};
    try {
      checkDoubled(message);
      answer(resultMessage(id, await handle(method, params)));
      if (method === registrationMethods.register && subserver !== undefined) {
        await askForLists(state, subserver);
      }
    } catch (error) {
      answer(errorMessage(id, faultOf(error)));
      if (!isMcpxError(error)) state.log.error({ err: error, method }, "registration request failed");
      // What is wrong with something else says nothing of a registration that is under way.
      if (subserver === undefined && !isApplying) refuse(error);
    }
    // Only now: the answer is on its way.
    if (subserver?.isOver === true) channel.close(closeCodes.normal, "the registration has ended");
  }

  /** Who could not be registered has nothing more to say here. */
  function refuse(error: unknown): void {
    if (isRefused) return;
    isRefused = true;
    const reason = isMcpxError(error) ? error.code : "internal";
    const { principal } = credential;
    state.audit?.record({ action: "register", actor: principal?.id, reason });
    channel.close(errorTable[reason].retry ? closeCodes.draining : closeCodes.forbidden, reason);
  }

  return {
    get subserver() {
      return subserver;
    },
    take(message, own = { reply: channelReply(channel), credential }) {
      const { id, method, params } = message;
      if (typeof method === "string" && isId(id)) {
        if (calls !== undefined && isCall(method)) return call(calls, id, message, own);
        void request(id, method, message, own.reply);
      } else if (method === undefined && id === parentQuestion) heardParent?.(message);
      else if (subserver === undefined || subserver.isOver) return;
      else {
        if (method === "notifications/cancelled" && isObject(params)) calls?.cancel(params);
        wireEnd.taker?.message(message);
      }
    },
  };
}

function call(
  calls: SubserverCalls,
  id: RequestId,
  message: JsonObject,
  { reply, credential }: { reply: Reply; credential: Credential },
): void {
  try {
    const request = readMessage(message);
    if (request.kind === "request") void calls.serve(request, credential.principal, reply);
  } catch (error) {
    reply.answer(errorMessage(id, faultOf(error)));
  }
}

const waitingBytesMax = 1_048_576;

function channelReply(channel: Channel): Reply {
  let isOver = false;
  return {
    get isBehind() {
      return channel.waitingBytes > waitingBytesMax;
    },
    before(message) {
      if (!isOver && !this.isBehind) channel.send(message);
    },
    answer(message: JsonObject) {
      if (!isOver) channel.send(message);
    },
    drop() {
      isOver = true;
    },
    // What is under way ends with the channel.
    onCut() {},
  };
}
