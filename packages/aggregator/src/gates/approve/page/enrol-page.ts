// Runs in the page where a human becomes an approver. It stands alone but for the parts it is given, since its text is
// what the page gets.
import type { Browser, PageElement } from "./browser.ts";
import type { CreationOptions, createPasskeys } from "./passkeys.ts";
import type { post } from "./post.ts";

export interface EnrolParts {
  createPasskeys: typeof createPasskeys;
  post: typeof post;
}

export function enrolPage({ createPasskeys, post }: EnrolParts): void {
  const { document, location } = globalThis as unknown as Browser;
  const byId = (id: string) => document.getElementById(id) as PageElement;
  const base = location.pathname;
  const passkeys = createPasskeys();
  let options: (CreationOptions & { user: { name: string } }) | undefined;

  const say = (text: string, tone = "") => {
    byId("status").textContent = text;
    byId("status").className = tone;
  };
  /** A new challenge for each attempt. */
  const prepare = async () => {
    options = (await post(`${base}/options`, {})) as NonNullable<typeof options>;
    byId("name").textContent = options.user.name;
    byId("invited").hidden = false;
    byId("register").disabled = false;
  };
  const start = async () => {
    try {
      const obstacle = passkeys.obstacle();
      if (obstacle !== undefined) throw new Error(obstacle);
      await prepare();
      say("Ready when you are.");
    } catch (error) {
      say((error as Error).message, "bad");
    }
  };
  const register = async () => {
    if (options === undefined) return;
    byId("register").disabled = true;
    say("Waiting for your passkey …");
    try {
      const credential = await passkeys.create(options);
      await post(`${base}/passkey`, { credential });
      byId("register").hidden = true;
      say(
        `Done. ${options.user.name} can approve calls with this passkey now. You may close this page.`,
        "good",
      );
    } catch (error) {
      const { name, message } = error as Error;
      await start();
      say(name === "NotAllowedError" ? "No passkey was made. You can try again." : message, "bad");
    }
  };
  byId("register").addEventListener("click", () => void register());
  void start();
}
