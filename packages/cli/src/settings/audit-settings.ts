// From the configuration to the places audit records are sent to. Secrets are filled in when they are used.
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { signWebhook } from "@mcpx/bridges";
import {
  type AuditPlace,
  createPostPlace,
  createSyslogPlace,
  type NamedPlace,
  otlpLogs,
  webhookBody,
} from "@mcpx/host";
import type { Config } from "../config/config.ts";
import { type FillInFrom, fillIn, fillInAll } from "../files/fill-in.ts";
import { Failure } from "../framework/failure.ts";
import { version } from "../framework/version.ts";

export function auditSettings({ audit = {} }: Config, world: FillInFrom): NamedPlace[] {
  return Object.entries(audit.push ?? {})
    .filter(([, { disabled }]) => disabled !== true)
    .map(([name, entry]) => ({ name, place: placeOf(name, entry, world) }));
}

type Entry = NonNullable<NonNullable<Config["audit"]>["push"]>[string];

function placeOf(
  name: string,
  { kind, url, headers = {}, secret = "", ca }: Entry,
  world: FillInFrom,
): AuditPlace {
  switch (kind) {
    case "syslog":
      return createSyslogPlace({ url, version, ca: ca && readAuthority(name, resolve(world.dir, ca)) });
    case "otlp": {
      const resource = { "service.name": "mcpx", "service.version": version };
      return createPostPlace({
        url,
        headers: () => fillInAll(headers, world),
        body: (rows) => otlpLogs(rows, resource),
      });
    }
    case "webhook":
      return createPostPlace({
        url,
        headers: (id, body) => ({
          ...fillInAll(headers, world),
          ...signWebhook(fillIn(secret, world), id, Date.now(), body),
        }),
        body: webhookBody,
      });
  }
}

function readAuthority(name: string, path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new Failure(
      `audit.push.${name}.ca: ${path} cannot be read (${code})`,
      "give the path of a PEM file",
    );
  }
}
