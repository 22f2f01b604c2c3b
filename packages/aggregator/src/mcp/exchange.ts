// One request on its way through the tree: what an endpoint hands in, whatever its era, and what may happen before the
// result. Endpoints make exchanges, verbs handle them, links carry them on.
import type { Principal } from "@mcpx/host";
import type { JsonObject } from "@mcpx/protocol";
import type { Dialect } from "../names/dialects.ts";
import type { Era, LogLevel } from "./era.ts";
import type { Profile } from "./profile.ts";

/** A question a server asks back: `elicitation/create`, `sampling/createMessage` or `roots/list`. */
export interface Question {
  method: string;
  params?: JsonObject;
}

export type Questions = Readonly<Record<string, Question>>;

/** The results, under the questions' keys. */
export type Answers = Readonly<Record<string, JsonObject>>;

/** The asker of a call: a name, and the thumbprints of the asker's keys. */
export interface Asker {
  readonly name: string;
  readonly keys: readonly string[];
}

/** Who asks, as their endpoint knows them. Lives as long as the session; modern callers have one per request. */
export interface Caller {
  readonly principal: Principal;
  /** What state at servers is kept for: a legacy session, a stdio client, a modern client's principal. */
  readonly key: string;
  readonly era: Era;
  /** As the client declared them. */
  readonly capabilities: JsonObject;
  readonly info: JsonObject | undefined;
  readonly dialect: Dialect;
  readonly profile: Profile | undefined;
  /** The room whose endpoint it came to; absent at the tree. */
  readonly place?: string | undefined;
  /** The caller asks in a room, where every participant reads the answer: the answer holds nothing that is for the caller alone. */
  readonly isPublic?: boolean | undefined;
  /** The quietest log message wanted; nothing is sent where it is absent. */
  readonly logLevel: LogLevel | undefined;
  /** It is the tree above us: its routes are read. Everybody else's are removed. [AX-7.2-2] */
  readonly isParent?: boolean | undefined;
  /** For whom it asks, where that is not itself. [AX-11.3-6] */
  readonly asker?: Asker | undefined;
  /** Proofs that came with the call, each for this gate and others above or below it. [AX-11.3-8] */
  readonly proofs?: readonly string[] | undefined;
  /** The segment it has in this tree itself: what stands there is not for it. [AX-11.4-3] */
  readonly registeredAs?: string | undefined;
  /** What the tree above calls us. */
  readonly ownSegment?: string | undefined;
  /** Sends what belongs to no request. Only sessions have a way for it. */
  readonly deliver?: ((method: string, params: JsonObject) => unknown) | undefined;
  /** Asks what belongs to no request. Only sessions have a way for it. */
  readonly askAside?: ((question: Question) => Promise<JsonObject>) | undefined;
}

export interface Exchange {
  readonly caller: Caller;
  readonly method: string;
  /** As the client sent them, without what belongs to its hop (`metaKeys`, `progressToken`). */
  readonly params: JsonObject;
  /** The client asked for progress: `notify("notifications/progress", …)` without a token reaches it. */
  readonly wantsProgress: boolean;
  /** `Mcp-Param-*` headers as they came, names in lower case; absent where the endpoint has no headers or the era none. */
  readonly paramHeaders: Readonly<Record<string, string>> | undefined;
  /** How long a list waits for any one server; as long as the server has, unless given. */
  readonly listWaitMs?: number | undefined;
  /** Aborted when the client cancels or goes away. */
  readonly signal: AbortSignal;
  /** Progress and log messages of this request; the endpoint gives them the client's token. */
  notify(method: string, params: JsonObject): void;
  /** Asks the client; rejects with an `RpcError` where it refuses or cannot. */
  ask(questions: Questions): Promise<Answers>;
}
