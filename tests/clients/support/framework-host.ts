// A framework in a process of its own, as its users start it: calls come as messages, one at a time.
// As a command: node framework-host.ts DIR CLIENT PLACE
import { frameworks } from "../drivers/frameworks.ts";

const [, , dir = "", client = "", place = "{}"] = process.argv;
const driver = frameworks(dir).find((one) => one.client === client);
if (driver === undefined) throw new Error(`there is no ${client}`);
// Frameworks write what they like to standard output.
const answer = (told: unknown) => process.send?.(told);
const session = await driver.connect(JSON.parse(place));
answer({ tools: await session.tools() });
process.on("message", async ({ name, args }: { name: string; args: Record<string, unknown> }) => {
  answer(await session.call(name, args));
});
process.on("disconnect", () => session.close().finally(() => process.exit()));
