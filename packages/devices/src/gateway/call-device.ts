// One tool call to a device: arguments checked before, the result after, everything in between an honest outcome.
// Only the arguments go to the device, never anything else of the request. [AX-8.2-2] [AX-10.4-1]
import { canonicalJson, isMcpxError, isObject, type JsonObject, numberOf } from "@mcpx/protocol";
import { faultOfValues, type Values } from "../tools/field.ts";
import { wordsOfStatus } from "../tools/status.ts";
import type { DeviceOutcome } from "./conversation.ts";
import type { ToolConfig } from "./device-config.ts";
import { fieldsOf, type Stub } from "./stub.ts";

export async function callDevice(
  stub: Stub,
  tool: ToolConfig,
  args: unknown,
  signal: AbortSignal | undefined,
): Promise<JsonObject> {
  const values = plainNumbers(args ?? {});
  const fault = faultOfValues(fieldsOf(tool.arguments), values);
  if (fault !== undefined) return failed("bad_arguments", `The arguments do not fit: ${fault}.`);
  return resultOf(stub, tool, await stub.call(tool, values as Values, signal));
}

/** 1.0 is 1; a number that would be rounded stays as it was written, and fits nothing. */
function plainNumbers(args: unknown): unknown {
  if (!isObject(args)) return args;
  return Object.fromEntries(Object.entries(args).map(([name, value]) => [name, plainNumber(value)]));
}

function plainNumber(value: unknown): unknown {
  const number = numberOf(value);
  if (number === undefined) return value;
  try {
    return canonicalJson(number) === canonicalJson(value) ? number : value;
  } catch (error) {
    // An exponent that nobody can count with.
    if (isMcpxError(error)) return value;
    throw error;
  }
}

function resultOf(stub: Stub, tool: ToolConfig, outcome: DeviceOutcome): JsonObject {
  switch (outcome.kind) {
    case "unreached":
      return failed("unreached", "The device was not reached; nothing was done.");
    case "unanswered":
      return failed(
        "indeterminate",
        "The device did not answer: it may or may not have done this. Look before trying again.",
      );
    case "error":
      return failed(
        "device_error",
        sentence(wordsOfStatus(outcome.status, tool.statuses ?? {}, outcome.text)),
        {
          device_status: outcome.status,
        },
      );
    case "result":
      return readResult(tool, stub.read(tool, outcome));
  }
}

function readResult(tool: ToolConfig, values: Values | string): JsonObject {
  const fault = typeof values === "string" ? values : faultOfValues(fieldsOf(tool.result), values);
  if (fault !== undefined)
    return failed("bad_result", `The device answered, but its result does not fit: ${fault}.`);
  return { content: [{ type: "text", text: JSON.stringify(values) }], structuredContent: values };
}

function sentence(words: string): string {
  return `${words.charAt(0).toUpperCase()}${words.slice(1)}.`;
}

function failed(reason: string, text: string, more: JsonObject = {}): JsonObject {
  return { content: [{ type: "text", text }], structuredContent: { reason, ...more }, isError: true };
}
