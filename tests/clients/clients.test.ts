// Unmodified clients that are small enough to be installed with us, through everything; those that are not are tried by
// `npm run soak -- tests/clients`.
import { afterAll, beforeAll, test } from "vitest";
import { aiSdk } from "./drivers/ai-sdk.ts";
import { inspector } from "./drivers/inspector.ts";
import { officialSdk } from "./drivers/official-sdk.ts";
import { pageRow, versionOf, writeRow } from "./support/page.ts";
import { openStage, type Stage } from "./support/stage.ts";
import { expectedOf, tryOut } from "./support/trial.ts";

let stage: Stage;

beforeAll(async () => {
  stage = await openStage();
});

afterAll(() => stage?.close());

test.concurrent.for([...officialSdk, aiSdk, inspector])(
  "[B-CLIENT-1] $client lists, calls, waits for an approval, and gets the result, at the tree and in a room",
  { timeout: 240_000 },
  async (driver, { expect }) => {
    const findings = await tryOut(driver, stage);
    expect(findings).toEqual(expectedOf(driver));
    const row = { client: driver.client, version: versionOf(driver.package), findings };
    if (process.env.MCPX_WRITE_CLIENTS === "1") writeRow(row);
    expect(pageRow(driver.client)).toEqual(row);
  },
);
