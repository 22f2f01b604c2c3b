// Capabilities at the console: who may call whose tools, and the question before one is taken back.
import { expect, onTestFinished, test } from "vitest";
import { annMayHeat, startKitchen, topic, wideLimits } from "../access/support/guarded-kitchen.ts";
import { enterRaw } from "../access/support/raw-caller.ts";
import { openBrowser } from "../browser/page.ts";
import { openScreen } from "./support/screen.ts";
import { loginPath } from "./support/visitor.ts";

test("[AC-9-3] a capability is shown, and taken back after a question", { timeout: 60_000 }, async () => {
  const house = { limits: wideLimits, gateway: { topics: { [topic]: { toolAccess: "enforce" as const } } } };
  const [{ server }, browser] = await Promise.all([
    startKitchen({ policy: annMayHeat, house }),
    openBrowser(),
  ]);
  onTestFinished(() => browser.close());
  const ann = await enterRaw(server, "ann");
  const { result } = await ann.request("capabilities/request", {
    tools: ["heat"],
    constraints: { maxUses: 5 },
  });
  const call = () => ann.call({ capability: result.token });
  const { page, errors } = await openScreen(browser, `${server.url}${await loginPath(server)}`);
  await page.getByRole("navigation").getByRole("link", { name: "Rules and grants" }).click();
  const row = page.getByRole("region", { name: "List of capabilities" }).getByRole("row", { name: /ann/ });
  await row.getByText("heat").waitFor();
  expect(await row.textContent()).toMatch(/5 times, \d+:\d\d left|5 times, 1 h/);
  const question = page.getByRole("dialog", { name: "Revoke a capability" });
  await row.getByRole("button", { name: "Revoke …" }).click();
  await question.getByRole("button", { name: "No, go back" }).click();
  expect(await call()).toBe("done");
  await row.getByRole("button", { name: "Revoke …" }).click();
  await question.getByRole("button", { name: "Yes, revoke it" }).click();
  await page.getByText("There are no capabilities.").waitFor();
  expect(await call()).toBe("revoked");
  expect(await page.content()).not.toContain(result.token);
  expect(errors).toEqual([]);
});
