// What the timeline shows, from its first line to its last, although only those that can be seen are ever there.
import type { Page } from "playwright-core";

/** Leaves only the lines with this text; resolves with their number when it has been looked for. */
export async function searchLines(page: Page, text: string): Promise<void> {
  await page.getByRole("searchbox", { name: "Search the timeline" }).fill(text);
}

export const lineCount = async (page: Page): Promise<number> =>
  Number((await page.locator(".timeline .count").textContent())?.replaceAll(",", ""));

/** In the order they stand in, each with its place: what is there twice is there twice. */
export async function allLines(page: Page): Promise<string[]> {
  return (await page.evaluate(`(async () => {
    const scroller = document.querySelector(".scroller");
    const all = scroller.querySelector(".all");
    const places = new Map();
    const drawn = () => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)));
    for (let top = 0; top < scroller.scrollHeight; top += scroller.clientHeight / 2) {
      scroller.scrollTop = top;
      await drawn();
      for (const line of scroller.querySelectorAll("li")) {
        const place = (line.getBoundingClientRect().top - all.getBoundingClientRect().top) / line.offsetHeight;
        places.set(Math.round(place), line.querySelector(".text").textContent);
      }
    }
    return [...places].sort(([a], [b]) => a - b).map(([, text]) => text);
  })()`)) as string[];
}
