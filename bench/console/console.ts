// The console in a real Chromium: how soon it can be used, how smooth it is in a loud room beside the same page in a
// quiet one, and a hundred thousand envelopes in its timeline.
import { chromium } from "playwright-core";
import { measureLive } from "./live.ts";
import { withRoom } from "./loud-room.ts";
import { many, measureMany } from "./many.ts";
import { measureOpening } from "./opening.ts";
import { measureWide, wide } from "./wide.ts";

export async function benchConsole(note: (line: string) => void): Promise<Record<string, unknown>> {
  const browser = await chromium.launch({
    executablePath: "/usr/bin/chromium",
    args: ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"],
  });
  try {
    note("console: from navigation to a key that counts");
    const opening = await withRoom(0, (room) => measureOpening(browser, room));
    note("console: a loud room, and a quiet one");
    const live = await withRoom(0, (room) => measureLive(browser, room));
    note(`console: ${wide.tools} tools and ${wide.rooms} rooms`);
    const navigation = await withRoom(0, (room) => measureWide(browser, room), wide);
    note(`console: ${many} envelopes`);
    const full = await withRoom(many, (room) => measureMany(browser, room));
    return { ...opening, live, navigation, full };
  } finally {
    await browser.close();
  }
}
