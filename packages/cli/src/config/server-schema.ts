// A server of `mcpServers`, and what is said of its tools.
import { latencyClasses } from "@mcpx/protocol";
import { z } from "zod";
import * as is from "./config-values.ts";
import { byName, list, section, shaped } from "./sections.ts";

const serverEras = ["auto", "legacy", "modern"] as const;
const serverTypes = ["stdio", "http", "streamable-http", "streamableHttp", "sse"] as const;

/** What is said of a tool's danger and cost instead of what it says itself. */
export const capability = section({
  latency_class: is.oneOf(latencyClasses).exactOptional(),
  consistency: is.oneOf(["strong", "eventual", "best_effort"]).exactOptional(),
  mutable: is.flag.exactOptional(),
  reversible: is.flag.exactOptional(),
  idempotent: is.flag.exactOptional(),
  auth_scope: is.oneOf(["read", "write", "admin"]).exactOptional(),
  cost_class: is.oneOf(["free", "metered", "expensive"]).exactOptional(),
  availability: is.oneOf(["always", "scheduled", "best_effort", "degraded"]).exactOptional(),
});

const toolOverride = section({
  enabled: is.flag.exactOptional(),
  name: is.segment.exactOptional(),
  title: is.text("a title", "Read a note").exactOptional(),
  description: is.text("a description", "Reads one note").exactOptional(),
  arguments: byName(z.string(), z.unknown()).exactOptional(),
  capability: capability.exactOptional(),
});

/** How much of what a server says unasked is passed on. */
export const notifications = section({
  ratePerSecond: is.count.exactOptional(),
  buffer: is.count.exactOptional(),
});

/** As the known clients write it, and what is ours beside it. */
export const mcpServer = section({
  command: is.text("a command", "npx").exactOptional(),
  args: list(z.string({ error: ({ input }) => is.expectation("a string", input) })).exactOptional(),
  env: byName(z.string(), is.anyText).exactOptional(),
  cwd: is.text("a directory", "/srv/notes").exactOptional(),
  user: shaped("a user of this machine", "notes", /^[a-z_][a-z0-9_-]{0,30}$/).exactOptional(),
  url: is.serverUrl.exactOptional(),
  room: is.roomName.exactOptional(),
  as: is.id.exactOptional(),
  headers: byName(z.string(), is.anyText).exactOptional(),
  type: is.oneOf(serverTypes).exactOptional(),
  era: is.oneOf(serverEras).exactOptional(),
  oauth: section({
    clientId: is.text("a client id", "mcpx").exactOptional(),
    clientSecret: is.text("a secret", "${env:SECRET}").exactOptional(),
    issuer: is.text("the issuer's address", "https://login.example.com").exactOptional(),
    scope: is.text("scopes", "read write").exactOptional(),
    redirectPort: is.port.exactOptional(),
    per: is.oneOf(["server", "user"]).exactOptional(),
  }).exactOptional(),
  disabled: is.flag.exactOptional(),
  segment: is.segment.exactOptional(),
  root: is.flag.exactOptional(),
  trusted: is.flag.exactOptional(),
  unannotated: is.oneOf(["ask", "allow"]).exactOptional(),
  timeout: is.duration.exactOptional(),
  listTimeout: is.duration.exactOptional(),
  idleTimeout: is.durationOrZero.exactOptional(),
  allow: list(is.ownToolGlob).exactOptional(),
  deny: list(is.ownToolGlob).exactOptional(),
  tools: byName(z.string(), toolOverride).exactOptional(),
  pin: is.flag.exactOptional(),
  notifications: notifications.exactOptional(),
}).check(({ value, issues }) => {
  const { command, url, room, as, root, segment, args, user, type, era, tools = {} } = value;
  const add = (message: string) => issues.push({ code: "custom", message, input: value, path: [] });
  const ways = [command, url, room].filter((way) => way !== undefined);
  if (ways.length !== 1) add("needs exactly one of command, url and room");
  if (room === undefined && as !== undefined) add('has "as" without "room"; remove "as"');
  if (room !== undefined && era !== undefined) add("has era and a room; remove the era");
  if (type === "sse" && era === "modern")
    add("has type sse and era modern; that transport is older: keep one");
  if (command === undefined && args !== undefined) add("has args without a command; remove them");
  if (command === undefined && user !== undefined) add("has a user without a command; remove it");
  if (user === "root") add("would run as root; name a user with fewer rights");
  if (root === true && segment !== undefined) add("has root and segment; keep one of them");
  const names = Object.values(tools).flatMap(({ name }) => name ?? []);
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice !== undefined) add(`has two tools named ${twice}; give one of them another name`);
  for (const fault of perUserFaults(value)) add(fault);
});

/** What cannot be where users sign in themselves. */
function perUserFaults({
  url,
  oauth,
  headers = {},
}: {
  url?: string;
  oauth?: { per?: "server" | "user"; redirectPort?: number };
  headers?: Record<string, string>;
}): string[] {
  if (oauth?.per !== "user") return [];
  const hasOwn = Object.keys(headers).some((name) => name.toLowerCase() === "authorization");
  return [
    ...(url === undefined ? ["has oauth.per user without a url; users sign in to servers elsewhere"] : []),
    ...(hasOwn ? ["has oauth.per user and a header authorization; keep one of them"] : []),
    ...(oauth.redirectPort === undefined
      ? []
      : ["has oauth.per user and oauth.redirectPort; remove the port: users come back to /oauth/callback"]),
  ];
}
