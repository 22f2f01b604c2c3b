// A person with a passkey in a real Chromium, who lets programs in.
import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import { plugIn } from "../../browser/support/authenticator.ts";
import { openScreen } from "../../console/support/screen.ts";
import { loginPath } from "../../console/support/visitor.ts";
import type { TestServer } from "../../support/test-server.ts";

export interface Person {
  readonly page: Page;
  readonly errors: string[];
  /** Looks at the address a program wants opened, and allows what is proposed, but for what `choose` does. */
  allow(asked: URL | string | undefined, name: string, choose?: () => Promise<unknown>): Promise<void>;
  /** Into the directory that MCPX_PICTURES names, for whoever wants to look. */
  picture(name: string): Promise<void>;
}

/** Registers the passkey at the console and logs out. */
export async function newPerson(browser: Browser, server: TestServer): Promise<Person> {
  const origin = server.url.replace("127.0.0.1", "localhost");
  const { page, context, errors } = await openScreen(browser, `${origin}${await loginPath(server)}`);
  await plugIn(context, page);
  await page.getByRole("navigation").getByRole("link", { name: "Tokens" }).click();
  const passkeys = page.getByRole("region", { name: "Passkeys" });
  await passkeys.getByRole("button", { name: "Register a passkey" }).click();
  await passkeys.getByRole("button", { name: "Remove" }).waitFor();
  await page.getByRole("button", { name: "Log out" }).click();
  await page.getByText("You are not logged in").waitFor();
  const picture = async (name: string) => {
    const dir = process.env.MCPX_PICTURES;
    if (dir !== undefined)
      await page.screenshot({ path: join(dir, `authorize-${name}.png`), fullPage: true });
  };
  return {
    page,
    errors,
    picture,
    async allow(asked, name, choose) {
      await page.goto(String(asked));
      const logIn = page.getByRole("button", { name: "Log in with a passkey" });
      const heading = page.getByRole("heading", { name });
      await logIn.or(heading).first().waitFor();
      if (await logIn.isVisible()) {
        await picture("log-in");
        await logIn.click();
      }
      await heading.waitFor();
      await choose?.();
      await picture("ask");
      await page.getByRole("button", { name: "Allow" }).click();
    },
  };
}
