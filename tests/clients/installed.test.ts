// Clients and frameworks that are too large to be installed with us: `npm run soak -- tests/clients` installs them into a
// folder of their own, and tries them as the small ones are. `MCPX_WRITE_CLIENTS=1` writes docs/CLIENTS.md.
import { afterAll, beforeAll, expect, test } from "vitest";
import { assistantDrivers, assistants } from "./drivers/assistants.ts";
import { frameworkPackages, frameworks } from "./drivers/frameworks.ts";
import { hosted } from "./support/hosted.ts";
import { installClients } from "./support/installed.ts";
import { versionOf, writeRow } from "./support/page.ts";
import { openStage, type Stage } from "./support/stage.ts";
import { expectedOf, tryOut } from "./support/trial.ts";

let stage: Stage;
let dir = "";

beforeAll(async () => {
  dir = installClients([...frameworkPackages, ...assistants.map((assistant) => assistant.package)]);
  stage = await openStage();
}, 900_000);

afterAll(() => stage?.close());

/** Assistants are programs of their own already. */
const driversIn = (folder: string) => [
  ...frameworks(folder).map((driver) => hosted(driver, folder)),
  ...assistantDrivers(folder),
];
const named = driversIn("").map(({ client }) => client);

test.for(named)("[B-CLIENT-1] %s works the first time", { timeout: 600_000 }, async (client) => {
  const driver = driversIn(dir).find((one) => one.client === client);
  if (driver === undefined) throw new Error(`there is no ${client}`);
  const findings = await tryOut(driver, stage);
  if (process.env.MCPX_WRITE_CLIENTS === "1") {
    writeRow({ client, version: versionOf(driver.package, dir), findings });
  }
  expect(findings).toEqual(expectedOf(driver));
});
