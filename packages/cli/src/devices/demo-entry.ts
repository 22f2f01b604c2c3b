// The demonstration of firmware/demo, as a configuration describes it in either profile. Pure.
import type { DeviceEntry } from "../settings/device-settings.ts";

const looks = { mutable: false, reversible: true, idempotent: true, auth_scope: "read" } as const;
const sets = { mutable: true, reversible: true, idempotent: true, auth_scope: "write" } as const;
const releases = { mutable: true, reversible: false, idempotent: false, auth_scope: "write" } as const;

/** Without its heartbeat and timeouts, which are written otherwise than they are read. */
export type DemoEntry = Pick<DeviceEntry, "line" | "profile" | "payloadMax" | "tools">;

export function demoEntry(profile: "a" | "b", line: string, payloadMax?: number): DemoEntry {
  const [byte, word] = profile === "a" ? (["u8", "u16"] as const) : (["uint", "uint"] as const);
  return {
    line,
    profile,
    ...(payloadMax !== undefined && { payloadMax }),
    tools: {
      read_sensor: {
        id: 1,
        description: "Reads the sensor, the LED and how often something was released.",
        result: [
          { name: "reading", type: word },
          { name: "led", type: "bool" },
          { name: "releases", type: byte },
        ],
        capability: looks,
      },
      set_led: {
        id: 2,
        description: "Switches the LED: 1 is on.",
        arguments: [{ name: "led", type: byte, minimum: 0, maximum: 1 }],
        result: profile === "a" ? [] : [{ name: "led", type: "bool" }],
        capability: sets,
      },
      release: {
        id: 3,
        description: "Releases an amount; this cannot be undone. Works only while the LED is on.",
        arguments: [{ name: "amount", type: word, minimum: 1, maximum: 5_000 }],
        result: [{ name: "releases", type: byte }],
        capability: releases,
      },
    },
  };
}
