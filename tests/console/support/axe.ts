// What axe-core has against a page: WCAG 2.2 AA and good practice, as lines that name the rule and the element.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { Page } from "playwright-core";

const source = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/** `rules`: only these, where they are given. The page must let it in: `bypassCSP`. */
export async function axeFaults(page: Page, rules?: readonly string[]): Promise<string[]> {
  await page.evaluate(`globalThis.axe ?? (() => { ${source} })()`);
  return page.evaluate(async (only) => {
    const { axe } = globalThis as unknown as {
      axe: { run(options: object): Promise<{ violations: { id: string; nodes: { html: string }[] }[] }> };
    };
    const { violations } = await axe.run({ resultTypes: ["violations"], ...(only && { runOnly: only }) });
    return violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html.slice(0, 200)}`));
  }, rules);
}
