// What was decided is sent a moment later, so that it can be taken back while nothing was sent. A person who leaves the
// page has decided: it is sent at once.
import { faultText } from "../store/api.ts";
import type { Item } from "../store/deck.ts";
import { app, comeBack, held, tell } from "../store/page.ts";

const holdMs = 4_000;
/** What ends sooner waits for nobody. */
const spareMs = 10_000;

export function hold(item: Item, doing: string, send: () => Promise<void>): void {
  const { key } = item;
  const release = () => held.set(new Map([...held.get()].filter(([one]) => one !== key)));
  const sendNow = () => {
    clearTimeout(timer);
    if (!held.get().has(key)) return;
    // Somebody else was faster: there is nothing left to decide.
    const isWaiting = app.deck.get().waiting.some((one) => one.key === key);
    const sending = isWaiting ? send() : Promise.reject(new Error("Somebody else has decided it meanwhile."));
    sending
      .catch((error: unknown) => {
        comeBack(key);
        tell(faultText(error), true);
      })
      .finally(release);
  };
  const undo = () => {
    clearTimeout(timer);
    comeBack(key);
    release();
  };
  const isUrgent = item.expiresAt - Date.now() < holdMs + spareMs;
  const timer = setTimeout(sendNow, isUrgent ? 0 : holdMs);
  held.set(new Map([...held.get(), [key, { doing, undo, sendNow }]]));
}
