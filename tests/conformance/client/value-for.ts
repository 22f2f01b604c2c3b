// A value that fits a JSON schema: its default, else something of its type. References are not looked at.
import { isObject, type JsonObject } from "@mcpx/protocol";

export function valueFor(schema: JsonObject): unknown {
  if ("default" in schema) return schema.default;
  if (Array.isArray(schema.enum)) return schema.enum[0];
  switch (schema.type) {
    case "object":
      return Object.fromEntries(
        Object.entries(isObject(schema.properties) ? schema.properties : {}).flatMap(([name, property]) =>
          isObject(property) && property.$ref === undefined ? [[name, valueFor(property)]] : [],
        ),
      );
    case "array":
      return [];
    case "boolean":
      return true;
    case "integer":
    case "number":
      return 1;
    case "string":
      return "text";
    default:
      return null;
  }
}
