// A page of ours as it goes out: one file, the same for everybody, with a policy that lets nothing else run in it.
// The scripts are functions of ours, as text: they need no build, and are typed and tested like the rest.
import { hash } from "node:crypto";
import type { HttpResponse } from "@mcpx/host";
import { documentOf } from "./document.ts";
import { style } from "./page/style.ts";

interface Shell {
  title: string;
  /** HTML of our own, with nothing of anybody else in it. */
  body: string;
  script: string;
}

type PagePart = (...args: never[]) => unknown;

/** Each part stands alone; the main one is given all of them by name. */
export function scriptOf<T extends object>(main: (parts: T) => void, parts: T): string {
  const named = Object.entries(parts as Record<string, PagePart>);
  const texts = named.map(([name, part]) => `${name}: ${part}`).join(",\n");
  return `"use strict";\n(${main})({\n${texts}\n});`;
}

export function shellOf({ title, body, script }: Shell): HttpResponse {
  const text = documentOf(title, `${body}\n<script>${script}</script>`);
  return { text, headers: headersFor(script) };
}

function headersFor(script: string): Record<string, string> {
  const policy = [
    "default-src 'none'",
    `script-src '${sourceOf(script)}'`,
    `style-src '${sourceOf(style)}'`,
    "img-src data:",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ];
  return {
    "content-type": "text/html; charset=utf-8",
    "content-security-policy": policy.join("; "),
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "publickey-credentials-get=(self), publickey-credentials-create=(self)",
    // The address is what lets its reader in.
    "referrer-policy": "no-referrer",
    "x-frame-options": "DENY",
  };
}

function sourceOf(text: string): string {
  return `sha256-${hash("sha256", text, "base64")}`;
}
