// POST /admin/participants/{id}/promote and /demote: at once on live connections, kept, and announced. [X1-5.1-2]
import type { HttpRequest, HttpResponse } from "@mcpx/host";
import { isLevel, type Level, levelRank, McpxError } from "@mcpx/protocol";
import { isoTime } from "../delivery/system-envelope.ts";
import { adminOf } from "../rest/caller.ts";
import type { Gateway } from "../room/gateway-state.ts";
import { decideLevel, liveLevel } from "./decide-level.ts";
import { subjectOf } from "./subject.ts";

export async function promote(gateway: Gateway, request: HttpRequest): Promise<HttpResponse> {
  const { id, topic, by, level, old, at } = await decide(gateway, request, "promote", "full");
  return {
    body: {
      participantId: id,
      oldPrivilege: old,
      newPrivilege: level,
      promotedBy: by,
      promotedAt: at,
      topic,
    },
  };
}

export async function demote(gateway: Gateway, request: HttpRequest): Promise<HttpResponse> {
  const { id, topic, by, level, old, at } = await decide(gateway, request, "demote", "restricted");
  return {
    body: { participantId: id, oldPrivilege: old, newPrivilege: level, demotedBy: by, demotedAt: at, topic },
  };
}

async function decide(gateway: Gateway, request: HttpRequest, verb: "promote" | "demote", fallback: Level) {
  const by = await adminOf(gateway, request);
  const { id, topic } = await subjectOf(gateway, request);
  const level = request.query.get("level") ?? fallback;
  if (!isLevel(level)) throw new McpxError("bad_request", "level must be full, responder or restricted");
  const old =
    (await liveLevel(gateway, id, topic)) ?? gateway.levelDecisions.find(id, topic ?? "*") ?? "restricted";
  const isWrongWay =
    old !== "none" &&
    (verb === "promote" ? levelRank(level) < levelRank(old) : levelRank(level) > levelRank(old));
  if (isWrongWay) throw new McpxError("bad_request", `cannot ${verb} ${id} to ${level}: its level is ${old}`);
  const at = gateway.clock.now();
  await decideLevel(gateway, { verb, id, topic, level, by, at, detail: { old, new: level } });
  return { id, topic, by, level, old, at: isoTime(at) };
}
