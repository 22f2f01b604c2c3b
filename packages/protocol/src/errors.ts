// Every error a stranger can get: the stable word, its number, HTTP status, text, whose fault it is, and whether
// the same thing may work later. `docs/ERRORS.md` shows this table; a test keeps them equal.

interface ErrorRow {
  /** JSON-RPC or own number; own ones are HTTP status × 100 + n, outside JSON-RPC's reserved range. */
  code: number;
  http: number;
  message: string;
  fault: "caller" | "gateway";
  retry: boolean;
  suggestion: string;
  /** What stands in the detail where the thrower gives none. */
  detail?: string;
}

const row = (
  code: number,
  http: number,
  message: string,
  suggestion: string,
  more: Partial<Pick<ErrorRow, "fault" | "retry">> = {},
): ErrorRow => ({ code, http, message, suggestion, fault: "caller", retry: false, ...more });

/** A call that its capability does not allow. */
const capabilityRow = (detail: string, suggestion: string): ErrorRow => ({
  ...row(-32003, 403, "Invalid or missing capability token", suggestion),
  detail,
});

export const errorTable = {
  // What a frame or an envelope can get wrong.
  not_text: row(40001, 400, "Not a text frame", "Send each envelope as one text frame"),
  bad_frame: row(40017, 400, "Broken WebSocket frame", "Use a WebSocket library that keeps RFC 6455"),
  bad_utf8: row(40002, 400, "Not valid UTF-8", "Encode the envelope as UTF-8"),
  bad_json: row(-32700, 400, "Not valid JSON", "Send one JSON object per frame"),
  not_an_object: row(
    40003,
    400,
    "Not a JSON object",
    "Send one JSON object per frame; batches are not accepted",
  ),
  too_large: row(41301, 413, "Too large", "Keep the envelope within the size limit"),
  too_many_values: row(41302, 413, "Too many values", "Split the message, or pass large data as one text"),
  too_deep: row(40004, 400, "Nested too deeply", "Flatten the payload"),
  duplicate_key: row(40005, 400, "Duplicate key", "Give each key once"),
  missing_field: row(40006, 400, "Missing field", "Add the field named in the detail"),
  bad_field: row(40007, 400, "Bad field", "Correct the field named in the detail"),
  reserved_field: row(40008, 400, "Reserved field", "Leave out the field: the gateway sets it"),
  unsupported_protocol: row(40009, 400, "Unsupported protocol", "Use mcpx/v0.1 or mcp-x/v0"),
  unknown_kind: row(40010, 400, "Unknown kind", "Use one of the kinds of the protocol"),
  bad_json_rpc: row(
    -32600,
    400,
    "Not a JSON-RPC 2.0 message",
    "Send one request, notification, result or error",
  ),
  request_needs_one_target: row(
    -32600,
    400,
    "A request addresses exactly one participant",
    "Put one id into `to`",
  ),
  response_needs_correlation: row(
    40011,
    400,
    "A response needs correlation_id",
    "Set it to the request's envelope id",
  ),
  not_the_addressee: row(40301, 403, "Not yours to answer", "Answer only requests addressed to you"),
  bad_proposal: row(40012, 400, "Bad proposal", "Give `method` and `params`, no `jsonrpc` or `id`"),
  bad_chat: row(40013, 400, "Bad chat message", "Give `text`, and `format` plain or markdown"),
  bad_lifecycle: row(40014, 400, "Bad lifecycle message", "Refer to the proposal by correlation_id"),
  not_the_proposer: row(40302, 403, "Not yours to withdraw", "Only its proposer withdraws a proposal"),
  bad_system: row(40015, 400, "Not a system message for participants", "Use one of the documented types"),
  wrong_from: row(40303, 403, "`from` is not you", "Leave out `from` or set your own id"),
  id_conflict: row(40901, 409, "This id was used for something else", "Use a new id for a new envelope"),
  // Who may do what.
  privilege_violation: row(-32001, 403, "Privilege violation", "Use kind: 'mcp/proposal' instead"),
  kind_not_allowed: row(-32001, 403, "Privilege violation", "Ask an admin for another level"),
  rate_limited: row(42901, 429, "Too many messages", "Wait for retry_after_ms", { retry: true }),
  too_many_faults: row(42902, 429, "Too many faults", "Correct the client before it connects again"),
  unauthorised: row(40101, 401, "No valid token", "Send `Authorization: Bearer TOKEN`"),
  token_expired: row(40102, 401, "The token has expired", "Get a new token"),
  token_revoked: row(40103, 401, "The token was revoked", "Get a new token"),
  ticket_invalid: row(
    40104,
    401,
    "The ticket is unknown, used or expired",
    "Get a new one at POST /v0/tickets",
  ),
  identity_unavailable: row(50301, 503, "The token's issuer cannot be reached", "Try again later", {
    fault: "gateway",
    retry: true,
  }),
  topic_forbidden: row(40304, 403, "This token does not cover the topic", "Get a token for this topic"),
  no_level: row(
    40305,
    403,
    "No privilege level was assigned",
    "Ask an admin: this gateway runs in secure mode",
  ),
  kicked: row(40310, 403, "An admin has removed you from this room", "Ask an admin to set your level again"),
  key_mismatch: row(
    40306,
    403,
    "Another key is registered for this participant",
    "Ask an admin to reset the key",
  ),
  identity_change: row(40307, 403, "A refresh cannot change who you are", "Reconnect with the other token"),
  admin_only: row(40308, 403, "An admin token is needed", "Get one with `mcpx token --admin`"),
  already_connected: row(
    40902,
    409,
    "This participant is connected already",
    "Close the other connection first",
  ),
  foreign_origin: row(40309, 403, "This Origin is not allowed", "Add it to listen.origins"),
  foreign_host: row(42101, 421, "This Host is not served here", "Add it to listen.hosts"),
  websocket_version: row(
    42601,
    426,
    "This WebSocket version is not spoken here",
    "Use a WebSocket library that speaks version 13",
  ),
  // REST.
  bad_request: row(40016, 400, "Bad request", "Correct what the detail names"),
  not_found: row(40401, 404, "Not found", "Check the address"),
  history_disabled: row(40402, 404, "This topic keeps no history", "Turn it on in the topic's configuration"),
  method_not_allowed: row(40501, 405, "Method not allowed", "See the Allow header"),
  // The tree.
  unknown_tool: row(-32601, 404, "Unknown tool", "List the tools again"),
  tool_quarantined: row(
    40311,
    403,
    "The tool has changed since it was first seen, or hides text",
    "Look at the change with `mcpx tools diff NAME`, accept it with `mcpx tools accept NAME`",
  ),
  unknown_prompt: row(-32602, 404, "Unknown prompt", "List the prompts again"),
  unknown_resource: row(-32602, 404, "Resource not found", "List the resources again"),
  ambiguous_name: row(
    40903,
    409,
    "Several servers have this",
    "Use one of the full names given in the detail",
  ),
  unknown_method: row(-32601, 404, "Method not found", "Use a method of MCP the server has declared"),
  bad_params: row(-32602, 400, "Invalid params", "Correct what the detail names"),
  bad_route: row(40018, 400, "Wrong route", "Leave `x-mcpax-route` out: the tree sets it"),
  session_unknown: row(40403, 404, "The session is unknown or has ended", "Initialize again"),
  state_unknown: row(
    -32602,
    400,
    "The requestState is unknown, used or expired",
    "Make the call again without it",
  ),
  too_many_sessions: row(42903, 429, "Too many sessions", "End one of them, or wait", { retry: true }),
  timeout: row(50401, 504, "The server did not answer in time", "Try again, or raise the server's timeout", {
    fault: "gateway",
    retry: true,
  }),
  server_unreachable: row(50201, 502, "The server cannot be reached", "Look at `mcpx tree`", {
    fault: "gateway",
    retry: true,
  }),
  server_lost: row(
    50202,
    502,
    "The server ended during the call",
    "Check what the call changed before you call again",
    {
      fault: "gateway",
    },
  ),
  server_unauthorised: row(50204, 502, "The server wants an authorisation", "Look at `mcpx tree`", {
    fault: "gateway",
  }),
  bad_server_answer: row(50203, 502, "The server's answer is not valid MCP", "Tell the server's author", {
    fault: "gateway",
  }),
  subserver_unreachable: row(-32002, 503, "tool_degraded", "Try again after retry_after_ms", {
    fault: "gateway",
    retry: true,
  }),
  budget_exceeded: row(-32003, 429, "budget_exceeded", "Wait, or ask the operator for a larger budget"),
  // Being part of a tree.
  namespace_conflict: row(40904, 409, "namespace_conflict", "Register under another segment"),
  registration_cycle: row(40905, 409, "Registering here would close a circle", "Choose another parent"),
  duplicate_subserver: row(
    40906,
    409,
    "This subserver is registered elsewhere",
    "End the other registration, or wait for retry_after_ms",
    { retry: true },
  ),
  registration_unknown: row(40404, 404, "The registration is unknown or has ended", "Register again"),
  authority_unproven: row(
    40312,
    403,
    "The authority is not proven",
    "Send authority_proof, a token for this segment (`mcpx token --segment`), or a client certificate",
  ),
  too_many_subservers: row(42904, 429, "Too many subservers", "End one of them, or raise the limit"),
  // Gates.
  confirmation_unknown: row(40405, 404, "There is no gate with this confirmation_id", "Make the call again"),
  confirmation_expired: row(
    41001,
    410,
    "The gate has expired: nobody decided in time",
    "Make the call again",
  ),
  confirmation_used: row(
    40907,
    409,
    "The gate was decided already",
    "The caller gets the outcome by waiting, or by making the same call again",
  ),
  bad_proof: row(40313, 403, "The proof is not valid", "Sign this gate's statement with a trusted key"),
  self_approval: row(40314, 403, "Nobody approves their own call", "Let somebody else approve it"),
  gate_denied: row(
    40315,
    403,
    "The rules deny this call",
    "Ask the operator, who sees why with `mcpx rules test`",
  ),
  call_changed: row(
    40908,
    409,
    "What would be sent is not what was signed",
    "Make the call again: what waits then is what would be sent now",
  ),
  asker_unsigned: row(
    40317,
    403,
    "The statement names neither the asker nor the server",
    "Make the call again: what is signed now names both",
  ),
  never_sent: row(
    50305,
    503,
    "The gateway stopped before the approved call was sent",
    "Make the call again, and have it approved again",
    { fault: "gateway" },
  ),
  gate_rejected: row(
    40316,
    403,
    "The call was rejected",
    "Read the reason in the detail before you try anything else",
  ),
  too_many_gates: row(42905, 429, "Too many calls wait for approval", "Wait until some are decided", {
    retry: true,
  }),
  gate_indeterminate: row(
    50205,
    502,
    "It is not known whether the approved call took effect",
    "Check what the call changed before you call again",
    { fault: "gateway" },
  ),
  result_withheld: row(
    50206,
    502,
    "The call was made, and its result was withheld",
    "Check what the call changed before you call again",
    { fault: "gateway" },
  ),
  // Capabilities. Their text is the sources' own; what is wrong with this one is the detail. [AX-11.4-2]
  missing: capabilityRow("A capability is missing", "Ask its owner with capabilities/request"),
  malformed: capabilityRow("The capability cannot be read", "Send it as it was granted"),
  bad_signature: capabilityRow("The capability is not signed by its issuer", "Ask its owner for one"),
  wrong_issuer: capabilityRow("The capability is not from the tool's owner", "Ask its owner for one"),
  wrong_topic: capabilityRow("The capability is for another room", "Ask for one in this room"),
  expired: capabilityRow("The capability has expired", "Ask for a new one with capabilities/request"),
  not_yet_valid: capabilityRow("The capability is not valid yet", "Wait until it begins"),
  tool_not_covered: capabilityRow(
    "The capability does not cover this tool",
    "Ask for one that does with capabilities/request",
  ),
  arguments_refused: capabilityRow(
    "The capability does not allow these arguments",
    "Keep to what the detail says, or ask for a wider one",
  ),
  wrong_holder: capabilityRow("The capability is not yours", "Ask for one of your own"),
  wrong_channel: capabilityRow("The capability ended with its connection", "Ask for a new one"),
  uses_exhausted: capabilityRow("The capability is used up", "Ask for a new one"),
  revoked: capabilityRow("The capability was revoked", "Ask its owner why before you ask for another"),
  delegation_widened: capabilityRow(
    "The capability is wider than the one it was made from",
    "Make it narrower",
  ),
  delegation_too_long: capabilityRow(
    "The capability was passed on too often",
    "Ask its owner for one of your own",
  ),
  proof_missing: capabilityRow("The call has no proof", "Sign the call with the holder's key"),
  proof_invalid: capabilityRow("The proof does not fit the call", "Sign this very call, now"),
  replayed: capabilityRow("The proof was used before", "Sign each call again, with a new nonce"),
  policy_denied: capabilityRow("The owner denies this call", "No capability helps; ask the owner"),
  approval_refused: capabilityRow("The call was not approved", "Read the reason in the detail"),
  approval_timeout: capabilityRow("Nobody has approved the call in time", "Ask when somebody is there"),
  grant_refused: row(-32003, 403, "The capability was not granted", "Read the reason in the detail"),
  // Ours.
  too_many_connections: row(50302, 503, "Too many connections", "Try again after Retry-After", {
    fault: "gateway",
    retry: true,
  }),
  too_many_topics: row(50303, 503, "Too many topics", "Use an existing topic", { fault: "gateway" }),
  draining: row(50304, 503, "The gateway is shutting down", "Reconnect", { fault: "gateway", retry: true }),
  storage_full: row(50701, 507, "The disk is full", "Nothing was stored; try again later", {
    fault: "gateway",
    retry: true,
  }),
  storage_failed: row(50001, 500, "The store failed", "Nothing was acknowledged; tell the operator", {
    fault: "gateway",
  }),
  internal: row(50002, 500, "Internal error", "Tell the operator", { fault: "gateway", retry: true }),
} as const satisfies Record<string, ErrorRow>;

export type Reason = keyof typeof errorTable;

export interface McpxErrorOptions {
  suggestion?: string;
  retryAfterMs?: number;
  /** Further members of the error's `data`. */
  data?: Readonly<Record<string, unknown>>;
  cause?: unknown;
}

/** An error that may be shown to strangers: `code` is the stable word, `detail` one sentence. */
export class McpxError extends Error {
  readonly code: Reason;
  readonly detail: string;
  readonly suggestion: string;
  readonly retryAfterMs: number | undefined;
  readonly data: Readonly<Record<string, unknown>> | undefined;

  constructor(code: Reason, detail?: string, options: McpxErrorOptions = {}) {
    const row: ErrorRow = errorTable[code];
    const shown = detail ?? row.detail;
    super(shown === undefined ? row.message : `${row.message}: ${shown}`, { cause: options.cause });
    this.name = "McpxError";
    this.code = code;
    this.detail = shown ?? row.message;
    this.suggestion = options.suggestion ?? row.suggestion;
    this.retryAfterMs = options.retryAfterMs;
    this.data = options.data;
  }
}

/** Recognises our errors by their word, also across copies of this package. */
export function isMcpxError(error: unknown): error is McpxError {
  return (
    error instanceof Error &&
    "code" in error &&
    typeof error.code === "string" &&
    Object.hasOwn(errorTable, error.code) &&
    // Other libraries have words such as `not_found` too; only ours come with a text for strangers.
    "detail" in error &&
    typeof error.detail === "string"
  );
}
