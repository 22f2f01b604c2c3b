// The built page as it goes out: every file read once, each under its own name, with a policy that lets nothing else
// run and no other host be asked.
import { globSync, readFileSync } from "node:fs";
import { extname, join } from "node:path";
import { gzipSync } from "node:zlib";
import type { HttpRequest, HttpResponse, Route } from "@mcpx/host";

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
<p>The web console is not built here. In the directory of the sources: <code>npm run console</code>, then start the
gateway again. Everything else works.</p></html>
`;

export interface ConsoleFiles {
  readonly isBuilt: boolean;
  readonly routes: Route[];
}

export function consoleFiles(dirs: readonly string[] = places.map(beside)): ConsoleFiles {
  const dir = dirs.find((one) => globSync("index.html", { cwd: one }).length > 0);
  if (dir === undefined) {
    const page: Route = { method: "GET", path: "/", handle: (request) => html(request, notBuilt) };
    return { isBuilt: false, routes: [page] };
  }
  const index = readFileSync(join(dir, "index.html"), "utf8");
  const files = globSync("assets/*.{js,css,svg}", { cwd: dir });
  return {
    isBuilt: true,
    routes: [
      { method: "GET", path: "/", handle: (request) => html(request, index) },
      ...files.map((file) => asset(file, readFileSync(join(dir, file), "utf8"))),
    ],
  };
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

function html({ origin }: Pick<HttpRequest, "origin">, text: string): HttpResponse {
  const policy = [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self'",
    // Older browsers do not take WebSockets of the same origin for the same.
    `connect-src 'self' ${origin.replace(/^http/, "ws")}`,
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    // The framework's own, for the markup it was built with; it takes nothing from anybody.
    "trusted-types svelte-trusted-html",
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
