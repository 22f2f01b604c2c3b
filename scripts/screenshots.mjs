// Pictures of the web console as a first run shows it: node scripts/screenshots.mjs DIR
// They are made anew whenever the page changes, and looked at by eye.
import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { createInterface } from "node:readline";
import { chromium } from "playwright-core";

const target = resolve(process.argv[2] ?? "screenshots");
const home = mkdtempSync(join(tmpdir(), "mcpx-screenshots-"));
mkdirSync(target, { recursive: true });

const up = ["up", "--port", "0", "--json", "--data", join(home, "data")];
const gateway = spawn(process.execPath, [resolve("packages/cli/bin/mcpx.js"), ...up], {
  cwd: home,
  stdio: ["ignore", "pipe", "ignore"],
});
const browser = await chromium.launch({ executablePath: "/usr/bin/chromium", args: ["--no-sandbox"] });
try {
  const link = await firstLine(gateway.stdout).then((line) => JSON.parse(line).console);
  const context = await browser.newContext({ viewport: { width: 1280, height: 720 }, deviceScaleFactor: 1 });
  const page = await context.newPage();
  const shoot = (name) => page.screenshot({ path: join(target, `${name}.png`) });
  await page.goto(link);
  await page.getByText("Order A-17").waitFor();
  await shoot("first-card");
  await page.getByRole("button", { name: "Approve …" }).click();
  await shoot("question");
  await page.getByRole("button", { name: "Yes, approve" }).click();
  await page.getByText("is on the bench now").first().waitFor();
  await page
    .getByRole("article", { name: /workshop\.cut_sheet/ })
    .getByRole("button")
    .first()
    .click();
  await shoot("gate");
  await page.emulateMedia({ colorScheme: "dark" });
  await shoot("gate-dark");
  for (const colorScheme of ["dark", "light"]) {
    await page.emulateMedia({ colorScheme });
    await page.getByRole("link", { name: /demo/ }).first().click();
    await page.getByRole("button", { name: "Sequence" }).click();
    await page.getByRole("button", { name: /approved: / }).waitFor();
    await shoot(`sequence-${colorScheme}`);
    await page.getByRole("button", { name: "Timeline" }).click();
    for (const view of ["Topology", "Decisions", "Metrics"]) {
      await page.getByRole("navigation").getByRole("link", { name: view, exact: true }).click();
      await page.getByRole("region", { name: view, exact: true }).getByText("waiting").first().waitFor();
      await shoot(`${view.toLowerCase()}-${colorScheme}`);
    }
  }
  await page.emulateMedia({ colorScheme: "dark" });
  await page.getByRole("link", { name: /demo/ }).first().click();
  await page.setViewportSize({ width: 390, height: 780 });
  await shoot("phone-dark");
} finally {
  await browser.close();
  gateway.kill("SIGTERM");
  await new Promise((done) => gateway.once("close", done));
  rmSync(home, { recursive: true, force: true });
}

async function firstLine(stream) {
  for await (const line of createInterface({ input: stream })) return line;
  throw new Error("the gateway has not started");
}
