// The suite's clients' half is run and read rightly: the official SDK's client passes a scenario at either revision,
// and one that does nothing passes none.
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { runClientSuite } from "./run-suite.ts";

const sdkClient = `${process.execPath} ${fileURLToPath(new URL("sdk-client.ts", import.meta.url))}`;

test.for(["2025-11-25", "2026-07-28"] as const)(
  "the SDK's client passes tools_call at %s",
  async (revision) => {
    const result = await runClientSuite({ command: sdkClient, revision, scenario: "tools_call" });
    expect(result).toMatchObject({ passed: 1, total: 1, failed: [] });
  },
);

test.for(["2025-11-25", "2026-07-28"] as const)(
  "a client that does nothing fails tools_call at %s",
  async (revision) => {
    const result = await runClientSuite({ command: "true", revision, scenario: "tools_call" });
    expect(result).toMatchObject({ passed: 0, total: 1, failed: [{ scenario: "tools_call" }] });
  },
);
