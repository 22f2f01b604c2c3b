// What a tree adds to the capabilities it declares, so that another tree shows it canonical names. Pure.
import { isObject, type JsonObject } from "@mcpx/protocol";
import { treeExtension } from "../mcp/era.ts";

export function asTree(capabilities: JsonObject): JsonObject {
  const { extensions } = capabilities;
  return { ...capabilities, extensions: { ...(isObject(extensions) && extensions), [treeExtension]: {} } };
}
