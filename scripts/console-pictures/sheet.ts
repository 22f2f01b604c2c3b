// Pictures side by side on one sheet, all equally reduced.
import type { Browser } from "playwright-core";

export interface Shot {
  width: number;
  png: Buffer;
}

const scale = 0.5;

export async function drawSheet(browser: Browser, shots: readonly Shot[], path: string): Promise<void> {
  const page = await browser.newPage({ viewport: { width: 1_500, height: 400 } });
  const style = "body{margin:8px;background:#888;display:flex;flex-wrap:wrap;gap:8px;align-items:start}";
  const images = shots.map(
    ({ width, png }) =>
      `<img width="${Math.round(width * scale)}" src="data:image/png;base64,${png.toString("base64")}">`,
  );
  await page.setContent(`<style>${style}</style>${images.join("")}`);
  await page.screenshot({ path, fullPage: true });
  await page.close();
}
