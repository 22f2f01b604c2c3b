// Task ids carry the way back to their server and a seal over who may use them, so that any hop can be restarted and
// nobody can ask for another's task. Both generations of tasks: in a result's top, in `task`, in `tasks`, in `_meta`.
import { createHmac, timingSafeEqual } from "node:crypto";
import type { Principal } from "@mcpx/host";
import { isObject, type JsonObject, McpxError } from "@mcpx/protocol";
import { metaKeys } from "../mcp/era.ts";
import type { Server } from "../servers/server.ts";
import type { TreeState } from "../servers/tree-state.ts";

type Owner = Pick<Principal, "id" | "issuer">;

const rootWord = "-";
const sealChars = 16;

/** Every task id of a message from a server, as the caller is to see it. Untouched where there is none. */
export function sealTasks(state: TreeState, server: Server, owner: Owner, value: JsonObject): JsonObject {
  return mapTaskIds(value, (id) => {
    const word = server.segment ?? rootWord;
    return `${word}~${sealOf(state, owner, word, id)}~${id}`;
  });
}

export interface OpenedTask {
  server: Server;
  taskId: string;
}

/** Throws `bad_params` for an id that this tree has not made for this caller. */
export function openTaskId(state: TreeState, owner: Owner, sealed: string): OpenedTask {
  const [word = "", seal = "", ...rest] = sealed.split("~");
  const taskId = rest.join("~");
  const server = word === rootWord ? state.root : state.bySegment.get(word);
  const expected = Buffer.from(sealOf(state, owner, word, taskId));
  const given = Buffer.from(seal);
  const isOurs = given.length === expected.length && timingSafeEqual(given, expected);
  if (server === undefined || !isOurs) throw new McpxError("bad_params", "unknown task id");
  return { server, taskId };
}

function sealOf({ secret }: TreeState, { issuer, id }: Owner, word: string, taskId: string): string {
  return createHmac("sha256", secret)
    .update(JSON.stringify([issuer, id, word, taskId]))
    .digest("base64url")
    .slice(0, sealChars);
}

function mapTaskIds(value: JsonObject, change: (id: string) => string): JsonObject {
  const { taskId, task, tasks, _meta } = value;
  const related = isObject(_meta) ? _meta[metaKeys.relatedTask] : undefined;
  const isTouched = typeof taskId === "string" || isObject(task) || Array.isArray(tasks) || isObject(related);
  if (!isTouched) return value;
  const inside = (one: unknown) =>
    isObject(one) && typeof one.taskId === "string" ? { ...one, taskId: change(one.taskId) } : one;
  return {
    ...value,
    ...(typeof taskId === "string" && { taskId: change(taskId) }),
    ...(isObject(task) && { task: inside(task) }),
    ...(Array.isArray(tasks) && { tasks: tasks.map(inside) }),
    ...(isObject(related) && {
      _meta: { ...(_meta as JsonObject), [metaKeys.relatedTask]: inside(related) },
    }),
  };
}
