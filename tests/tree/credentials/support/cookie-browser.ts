// A browser as far as a sign-in needs one: cookies for each site, redirects followed one by one, forms sent.

export interface Page {
  url: string;
  status: number;
  text: string;
  headers: Headers;
}

export interface CookieBrowser {
  /** Opens an address and follows it to where it ends, or to `stopAt`, which is not opened. */
  open(url: string, stopAt?: (url: URL) => boolean): Promise<Page>;
  /** Presses the only button of a page, and follows. */
  press(page: Page, stopAt?: (url: URL) => boolean): Promise<Page>;
  /** By name, of one site. */
  cookies(origin: string): Map<string, string>;
}

/** `account`: who it is signed in as, at every authorization server. */
export function openCookieBrowser(account: string): CookieBrowser {
  const jars = new Map<string, Map<string, string>>();
  // Cookies do not know ports.
  const jarOf = (url: URL) => {
    const jar = jars.get(url.hostname) ?? new Map([["account", account]]);
    jars.set(url.hostname, jar);
    return jar;
  };

  async function follow(address: string, init: RequestInit, stopAt?: (url: URL) => boolean): Promise<Page> {
    let url = new URL(address);
    let sent: RequestInit = init;
    for (let hop = 0; hop < 10; hop += 1) {
      const jar = jarOf(url);
      const cookie = [...jar].map(([name, value]) => `${name}=${value}`).join("; ");
      const response = await fetch(url, {
        ...sent,
        redirect: "manual",
        headers: { ...(sent.headers as Record<string, string>), cookie },
      });
      for (const line of response.headers.getSetCookie()) keep(jar, line);
      const location = response.headers.get("location");
      const text = await response.text();
      if (location === null)
        return { url: url.href, status: response.status, text, headers: response.headers };
      url = new URL(location, url);
      if (stopAt?.(url)) return { url: url.href, status: response.status, text, headers: response.headers };
      sent = {};
    }
    throw new Error("it goes round in a circle");
  }

  return {
    open: (url, stopAt) => follow(url, {}, stopAt),
    press(page, stopAt) {
      const proof = /name="proof" value="([^"]*)"/.exec(page.text)?.[1];
      if (proof === undefined) throw new Error(`there is no button on ${page.status} ${page.text}`);
      const headers = {
        "content-type": "application/x-www-form-urlencoded",
        origin: new URL(page.url).origin,
        "sec-fetch-site": "same-origin",
      };
      return follow(
        page.url,
        { method: "POST", headers, body: new URLSearchParams({ proof }).toString() },
        stopAt,
      );
    },
    cookies: (origin) => jarOf(new URL(origin)),
  };
}

function keep(jar: Map<string, string>, line: string): void {
  const [pair = ""] = line.split(";");
  const at = pair.indexOf("=");
  if (/max-age=0/i.test(line)) jar.delete(pair.slice(0, at));
  else jar.set(pair.slice(0, at), pair.slice(at + 1));
}
