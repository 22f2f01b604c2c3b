// The demonstration of firmware/demo, as a gateway's configuration describes it in either profile.
import type { DeviceConfig, Field, ToolConfig } from "@mcpx/devices";

const looks = { mutable: false, reversible: true, idempotent: true, auth_scope: "read" } as const;
const sets = { mutable: true, reversible: true, idempotent: true, auth_scope: "write" } as const;
const releases = { mutable: true, reversible: false, idempotent: false, auth_scope: "write" } as const;

interface Types {
  byte: Field["type"];
  word: Field["type"];
}

function toolsOf({ byte, word }: Types, ledResult: Field[]): ToolConfig[] {
  return [
    {
      id: 1,
      name: "read_sensor",
      description: "Reads the sensor, the LED and how often something was released.",
      result: [
        { name: "reading", type: word },
        { name: "led", type: "bool" },
        { name: "releases", type: byte },
      ],
      capability: looks,
    },
    {
      id: 2,
      name: "set_led",
      arguments: [{ name: "led", type: byte, minimum: 0, maximum: 1 }],
      result: ledResult,
      capability: sets,
    },
    {
      id: 3,
      name: "release",
      description: "Releases an amount; this cannot be undone. Works only while the LED is on.",
      arguments: [{ name: "amount", type: word, minimum: 1, maximum: 5_000 }],
      result: [{ name: "releases", type: byte }],
      capability: releases,
    },
  ];
}

export function demoDevice(profile: "a" | "b", more: Partial<DeviceConfig> = {}): DeviceConfig {
  const tools =
    profile === "a"
      ? toolsOf({ byte: "u8", word: "u16" }, [])
      : toolsOf({ byte: "uint", word: "uint" }, [{ name: "led", type: "bool" }]);
  return { segment: "lamp", profile, tools, ...more };
}
