// A notification of the desktop when something waits and nobody looks at the page; only where it was allowed.

/** Asks the person, once. */
export async function allowNotices(): Promise<boolean> {
  return "Notification" in globalThis && (await Notification.requestPermission()) === "granted";
}

/** No word of strangers in it: it may be read over a shoulder. */
export function notify(count: number): void {
  if (!document.hidden || !("Notification" in globalThis) || Notification.permission !== "granted") return;
  const notice = new Notification("mcpx", {
    body: count === 1 ? "A call waits for you." : `${count} calls wait for you.`,
    tag: "mcpx-waiting",
  });
  notice.onclick = () => {
    window.focus();
    notice.close();
  };
}
