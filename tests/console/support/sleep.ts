// A laptop that is shut and opened again, for a browser of the test: all its processes stand still, then go on.
import type { Browser } from "playwright-core";

/** Resolves when they stand still, with the way to wake them. */
export async function putToSleep(browser: Browser): Promise<() => void> {
  const cdp = await browser.newBrowserCDPSession();
  const { processInfo } = await cdp.send("SystemInfo.getProcessInfo");
  await cdp.detach();
  const ids = processInfo.map(({ id }) => id);
  for (const id of ids) process.kill(id, "SIGSTOP");
  return () => {
    for (const id of ids.toReversed()) process.kill(id, "SIGCONT");
  };
}
