// The built pages as they go out: every file read once, each under its own name, with a policy that lets nothing else
// run and no other host be asked.
import { globSync, readFileSync } from "node:fs";
import { basename, extname, join } from "node:path";
import { gzipSync } from "node:zlib";
import type { HttpResponse, Route } from "@mcpx/host";

const types: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml; charset=utf-8",
};

/** Beside this file when published, in the package of the console when run from sources. */
const places = ["../web", "../../../console/dist"];

const notBuilt = `<!doctype html>
<html lang="en"><meta charset="utf-8"><title>mcpx</title>
<p>The web console is not built here, nor the page on which people decide. In the directory of the sources:
<code>npm run console</code>, then start the gateway again. Everything else works; in a terminal people decide with
<code>mcpx approve</code>.</p></html>
`;

/** Each leads to the same page, which shows what its address says. */
const pagePaths = [
  "/",
  "/console",
  "/console/rooms/:topic",
  "/console/rooms/:topic/envelopes/:id",
  "/console/gates/:id",
  "/console/tools/:name",
  "/console/servers",
  "/console/servers/:name",
  "/console/bridges",
  "/console/bridges/:name",
  "/console/topology",
  "/console/decisions",
  "/console/metrics",
  "/console/audit",
  "/console/rules",
  "/console/approvers",
  "/console/tokens",
  "/console/devices",
  "/console/backups",
];

export interface ConsoleFiles {
  readonly isBuilt: boolean;
  readonly routes: Route[];
}

export function consoleFiles(dirs: readonly string[] = places.map(beside)): ConsoleFiles {
  const dir = builtIn(dirs, "index.html");
  if (dir === undefined) {
    return { isBuilt: false, routes: pagePaths.map((path) => page(path, () => html(notBuilt))) };
  }
  const index = readFileSync(join(dir, "index.html"), "utf8");
  const files = globSync("assets/*.{js,css,svg}", { cwd: dir });
  const icon = files.find((file) => basename(file).startsWith("icon-") && file.endsWith(".svg"));
  return {
    isBuilt: true,
    routes: [
      ...pagePaths.map((path) => page(path, ({ origin }) => html(index, origin))),
      page("/console/manifest.webmanifest", () => manifest(icon)),
      page("/console/service-worker.js", () => serviceWorker(dir)),
      ...files.map((file) => asset(file, readFileSync(join(dir, file), "utf8"))),
    ],
  };
}

/** What makes the page installable. */
function manifest(icon: string | undefined): HttpResponse {
  const body = {
    name: "mcpx",
    short_name: "mcpx",
    start_url: "/",
    scope: "/",
    display: "standalone",
    background_color: "#14161a",
    theme_color: "#14161a",
    icons: icon === undefined ? [] : [{ src: `/${icon}`, type: "image/svg+xml", sizes: "any" }],
  };
  return { text: JSON.stringify(body), headers: { "content-type": "application/manifest+json" } };
}

/** Asked for anew each time: an old one would stay in browsers. */
function serviceWorker(dir: string): HttpResponse {
  const headers = { "content-type": types[".js"] as string, "cache-control": "no-cache" };
  const policy = { "content-security-policy": "default-src 'none'" };
  return { text: readFileSync(join(dir, "service-worker.js"), "utf8"), headers: { ...headers, ...policy } };
}

function page(path: string, handle: Route["handle"]): Route {
  return { method: "GET", path, handle };
}

/** The page behind the address of an approval; what it loads is among the console's files. */
export function approvalPage(dirs: readonly string[] = places.map(beside)): HttpResponse {
  return pageOf("approve.html", dirs);
}

/** The page where a person lets a client in. */
export function authorizePage(dirs: readonly string[] = places.map(beside)): HttpResponse {
  return pageOf("authorize.html", dirs);
}

function pageOf(name: string, dirs: readonly string[]): HttpResponse {
  const dir = builtIn(dirs, name);
  return html(dir === undefined ? notBuilt : readFileSync(join(dir, name), "utf8"));
}

function builtIn(dirs: readonly string[], page: string): string | undefined {
  return dirs.find((one) => globSync(page, { cwd: one }).length > 0);
}

function beside(path: string): string {
  return join(import.meta.dirname, path);
}

/** Its name changes with what is in it. Packed once, when somebody takes it so: a third goes over the line. */
function asset(file: string, text: string): Route {
  const headers = {
    "content-type": types[extname(file)] ?? "text/plain",
    "cache-control": "public, max-age=31536000, immutable",
    "cross-origin-resource-policy": "same-origin",
    vary: "accept-encoding",
  };
  let packed: HttpResponse | undefined;
  const pack = () => ({ bytes: gzipSync(text), headers: { ...headers, "content-encoding": "gzip" } });
  return {
    method: "GET",
    path: `/${file}`,
    handle: (request) => {
      if (!takesGzip(request.headers["accept-encoding"])) return { text, headers };
      packed ??= pack();
      return packed;
    },
  };
}

function takesGzip(accepted: string | undefined): boolean {
  return (accepted ?? "").split(",").some((one) => {
    const [coding, weight = ""] = one.split(";").map((part) => part.trim().toLowerCase());
    return coding === "gzip" && !/^q=0(\.0*)?$/.test(weight);
  });
}

/** `origin`: whose WebSockets it opens, where it does. */
function html(text: string, origin?: string): HttpResponse {
  const policy = [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self'",
    "manifest-src 'self'",
    // Older browsers do not take WebSockets of the same origin for the same.
    `connect-src 'self'${origin === undefined ? "" : ` ${origin.replace(/^http/, "ws")}`}`,
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    // The framework's own, for the markup it was built with, and ours for one service worker: neither takes anything
    // from anybody.
    "trusted-types svelte-trusted-html mcpx-worker",
  ];
  return {
    text,
    headers: {
      "content-type": types[".html"] as string,
      "content-security-policy": policy.join("; "),
      "cross-origin-opener-policy": "same-origin",
      "cross-origin-resource-policy": "same-origin",
      "permissions-policy": "publickey-credentials-get=(self), publickey-credentials-create=(self)",
      "referrer-policy": "no-referrer",
      "x-frame-options": "DENY",
    },
  };
}
