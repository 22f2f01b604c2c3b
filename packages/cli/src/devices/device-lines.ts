// Devices as lines for a terminal. Pure.
import type { JsonObject } from "@mcpx/protocol";
import { columns, type Output } from "../framework/output.ts";
import { cut, visible } from "../framework/visible.ts";

const marks = { up: ["green", "●"], degraded: ["yellow", "◐"], down: ["red", "✗"] } as const;
const whyCharsMax = 120;

/** One for each, and below it what is wrong with it. */
export function deviceLines(devices: readonly JsonObject[], { paint }: Pick<Output, "paint">): string[] {
  const rows = columns(devices.map(rowOf));
  return devices.flatMap((device, at) => {
    const [style, mark] = marks[device.state as keyof typeof marks] ?? marks.down;
    const troubles = troublesOf(device).map((trouble) => `    ${paint("yellow", trouble)}`);
    return [`${paint(style, mark)} ${rows[at]}`, ...troubles];
  });
}

function rowOf({ segment, state, profile, line, tools }: JsonObject): string[] {
  const names = namesIn(tools);
  return [
    visible(String(segment)),
    visible(String(state)),
    `profile ${String(profile).toUpperCase()}`,
    visible(String(line)),
    names.length === 0 ? "no tools yet" : names.join(", "),
  ];
}

function troublesOf({ why, missing, state }: JsonObject): string[] {
  const names = namesIn(missing);
  return [
    ...(why === undefined ? [] : [cut(visible(String(why)), whyCharsMax)]),
    ...(names.length === 0 || state !== "up"
      ? []
      : [`configured, and not on the device or with other types: ${names.join(", ")}`]),
  ];
}

function namesIn(value: unknown): string[] {
  return Array.isArray(value) ? value.map((name) => visible(String(name))) : [];
}
