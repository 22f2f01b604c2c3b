// What looks on: places elsewhere that audit records are sent to, and scanners of tools and their results.
import { z } from "zod";
import * as is from "./config-values.ts";
import { byName, list, section } from "./sections.ts";

/** What each kind needs and may have, beside `kind`, `url`, `insecure` and `disabled`. */
const auditKinds = {
  otlp: { needed: [], more: ["headers"], protocols: ["https:", "http:"] },
  syslog: { needed: [], more: ["ca"], protocols: ["tls:", "tcp:"] },
  webhook: { needed: ["secret"], more: ["headers"], protocols: ["https:", "http:"] },
} as const satisfies Record<
  string,
  { needed: readonly string[]; more: readonly string[]; protocols: readonly string[] }
>;

/** Where audit records go, as they are written. */
export const auditPlace = section({
  kind: is.oneOf(Object.keys(auditKinds) as (keyof typeof auditKinds)[]),
  url: is.text("an address", "https://collector.example.com/v1/logs"),
  headers: byName(z.string().min(1).max(256), is.anyText).exactOptional(),
  secret: is.text("a secret", "${env:AUDIT_SECRET}").exactOptional(),
  ca: is.text("the path of a PEM file", "ca.pem").exactOptional(),
  insecure: is.flag.exactOptional(),
  disabled: is.flag.exactOptional(),
}).check(({ value, issues }) => {
  const add = (message: string) => issues.push({ code: "custom", message, input: value, path: [] });
  const { needed, more, protocols } = auditKinds[value.kind];
  const known = ["kind", "url", "insecure", "disabled", ...needed, ...more];
  for (const key of needed) if (value[key] === undefined) add(`needs ${key} for the kind ${value.kind}`);
  for (const key of Object.keys(value))
    if (!known.includes(key)) add(`has ${key}, which the kind ${value.kind} does not use; remove it`);
  const url = URL.parse(value.url);
  if (url === null || !(protocols as readonly string[]).includes(url.protocol) || url.host === "") {
    add(
      `has the url ${JSON.stringify(value.url)}; for the kind ${value.kind} it begins with ${protocols.join("// or ")}//`,
    );
  } else if (url.protocol !== protocols[0] && value.insecure !== true && !is.isThisMachine(url.hostname)) {
    add(
      `would send audit records in plain text to ${url.host}; use ${protocols[0]}//, or "insecure": true where the network is yours`,
    );
  }
});

/** What looks at results: a webhook, or a tool of a server. */
export const scanner = section({
  url: is.serverUrl.exactOptional(),
  headers: byName(z.string().min(1).max(256), is.anyText).exactOptional(),
  secret: is.text("a secret", "${env:SCANNER_SECRET}").exactOptional(),
  server: is.text("the name of a server in mcpServers", "guard").exactOptional(),
  tool: is.text("the name of a tool there", "scan").exactOptional(),
  tools: list(is.toolGlob).exactOptional(),
  deadline: is.duration.exactOptional(),
  whenDown: is.oneOf(["hold", "pass"]).exactOptional(),
  insecure: is.flag.exactOptional(),
  disabled: is.flag.exactOptional(),
}).check(({ value, issues }) => {
  const add = (message: string) => issues.push({ code: "custom", message, input: value, path: [] });
  if ((value.url === undefined) === (value.server === undefined)) add("needs exactly one of url and server");
  const [other, keys] =
    value.server === undefined
      ? (["server", ["tool"]] as const)
      : (["url", ["headers", "secret", "insecure"]] as const);
  for (const key of keys) if (value[key] !== undefined) add(`has ${key}, which needs ${other}; remove it`);
  const url = value.url === undefined ? null : URL.parse(value.url);
  if (url?.protocol === "http:" && value.insecure !== true && !is.isThisMachine(url.hostname))
    add(
      `would send results in plain text to ${url.host}; use https://, or "insecure": true where the network is yours`,
    );
});
