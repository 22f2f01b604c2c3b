// The pages of a sign-in: who signs in to what, before anything happens; that it worked; or that it did not. No script.
import { hash } from "node:crypto";
import type { HttpResponse } from "@mcpx/host";
import { spelledOut } from "@mcpx/protocol";
import { style } from "./style.ts";

interface Asked {
  server: string;
  /** Its address's host. */
  host: string;
  user: string;
  /** Binds the button to this page in this browser. */
  proof: string;
}

export function askPage({ server, host, user, proof }: Asked): HttpResponse {
  const article = `<p class="ask">Sign in to</p>
<h1>${shown(server)}</h1>
<dl>
<dt>At</dt><dd>${shown(host)}</dd>
<dt>For the user</dt><dd><strong>${shown(user)}</strong> of this mcpx</dd>
</dl>
<section>
<p>You go on to where ${shown(server)} lets you in. After that, the assistants and programs of <strong>${shown(user)}</strong> can do there, through mcpx, what you allow.</p>
<p class="warning">Are you not ${shown(user)}, or did somebody else send you here? Then close this page: they would use your account.</p>
</section>`;
  const bar = `<form method="post"><input type="hidden" name="proof" value="${proof}"><button>I am ${shown(user)}: go on</button></form>`;
  return page(200, "Sign in", article, bar);
}

export function donePage(server: string, user: string): HttpResponse {
  return page(
    200,
    "Signed in",
    `<p class="ask"><strong>${shown(user)}</strong> is signed in to</p>
<h1>${shown(server)}</h1>
<p>You can close this window.</p>`,
  );
}

export function faultPage(status: number, detail: string, suggestion: string): HttpResponse {
  return page(
    status,
    "Not signed in",
    `<h1>This did not work</h1>
<p>${shown(detail)}</p>
<p class="soft">${shown(suggestion)}</p>`,
  );
}

function page(status: number, title: string, article: string, bar = ""): HttpResponse {
  const text = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>${title}</title>
<link rel="icon" href="data:,">
<style>${style}</style>
</head>
<body>
<main>
<header><p class="brand">mcpx</p></header>
<article>
${article}
</article>
</main>
${bar === "" ? "" : `<footer><div class="bar">${bar}</div></footer>`}
</body>
</html>
`;
  return { status, text, headers };
}

const headers = {
  "content-type": "text/html; charset=utf-8",
  "content-security-policy": [
    "default-src 'none'",
    `style-src 'sha256-${hash("sha256", style, "base64")}'`,
    "img-src data:",
    "base-uri 'none'",
    // Browsers hold the redirect that answers a form to this, too.
    "form-action 'self' https: http://127.0.0.1:* http://localhost:*",
    "frame-ancestors 'none'",
  ].join("; "),
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  // The address is what lets its reader in; and without it to ourselves, browsers would not say where the form was.
  "referrer-policy": "same-origin",
  "x-frame-options": "DENY",
};

/** Names are others' words: none of their characters is markup, and none is unseen. */
function shown(text: string): string {
  const safe = spelledOut(text).replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
  return `<bdi>${safe}</bdi>`;
}
