// One JSON log line as a person reads it: `12:01:03 info  joined  topic=demo id=alice`.
import { isObject, type JsonObject, visible } from "@mcpx/protocol";

const levelNames: Readonly<Record<number, string>> = {
  10: "trace",
  20: "debug",
  30: "info",
  40: "warn",
  50: "error",
  60: "fatal",
};

/** The line for a terminal; a line that is not our JSON comes back escaped. */
export function prettyLine(line: string): string {
  let record: unknown;
  try {
    record = JSON.parse(line);
  } catch {
    return `${visible(line.trimEnd())}\n`;
  }
  if (!isObject(record)) return `${visible(line.trimEnd())}\n`;
  const { time, level, msg, err, ...fields } = record;
  const at = typeof time === "number" ? new Date(time).toTimeString().slice(0, 8) : "--:--:--";
  const name = (typeof level === "number" ? levelNames[level] : undefined) ?? "log";
  const words = Object.entries(fields).map(([key, value]) => `${visible(key)}=${shown(value)}`);
  const head = `${at} ${name.padEnd(5)} ${typeof msg === "string" ? visible(msg) : ""}`.trimEnd();
  const stack = isObject(err) ? stackLines(err) : "";
  return `${words.length === 0 ? head : `${head}  ${words.join(" ")}`}\n${stack}`;
}

function shown(value: unknown): string {
  if (typeof value === "string" && /^[A-Za-z0-9._:@/+-]+$/.test(value)) return value;
  return visible(JSON.stringify(value));
}

function stackLines(error: JsonObject): string {
  const text = typeof error.stack === "string" ? error.stack : String(error.message ?? "");
  return text
    .split("\n")
    .map((line) => `  ${visible(line)}\n`)
    .join("");
}
