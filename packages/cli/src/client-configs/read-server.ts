// One server of a client's file as an entry of mcpx.json. Every value is checked: it was written by strangers.
import { isObject } from "@mcpx/protocol";
import type { ServerEntry } from "../config-edit/edit-config.ts";
import type { Client, ClientWorld, ServerGroup, WrittenServer } from "./client.ts";
import { isAbsoluteAt, joinAt } from "./places.ts";
import { neededBy, translate } from "./variables.ts";

export interface Reading {
  client: Client;
  group: ServerGroup;
  world: ClientWorld;
}

export interface ServerReading {
  entry: ServerEntry;
  /** Variables that have to be set where mcpx runs. */
  needs: string[];
  /** What the client knows about it and we do not. */
  untaken: string[];
}

/** Why a server cannot be taken over; `key` says where in it. */
export class ServerFault extends Error {
  readonly key: string | undefined;

  constructor(fault: string, key?: string) {
    super(key === undefined ? fault : `${key}: ${fault}`);
    this.key = key;
  }
}

const itemsMax = 1_000;
const charsMax = 100_000;

const types: Readonly<Record<string, ServerEntry["type"]>> = {
  stdio: "stdio",
  http: "http",
  "streamable-http": "http",
  streamableHttp: "http",
  streamable_http: "http",
  sse: "sse",
};

export function readServer(server: WrittenServer, reading: Reading): ServerReading {
  const { client, group, world } = reading;
  const filling = { style: client.variables, world, project: group.project };
  const fill = (key: string, text: string, name?: string) => {
    try {
      return translate(text, filling, name);
    } catch (error) {
      throw new ServerFault((error as Error).message, key);
    }
  };
  const command = optional(server.command, (value) => fill("command", text(value, "command")));
  const url = optional(server.url, (value) => address(fill("url", text(value, "url"))));
  if ((command === undefined) === (url === undefined)) {
    throw new ServerFault(
      command === undefined ? "has neither a command nor a url" : "has a command and a url",
    );
  }
  const args = optional(server.args, (value) => texts(value).map((item) => fill("args", item)));
  const env = {
    ...optional(server.env, (value) => pairs(value, "env", fill)),
    ...Object.fromEntries((server.inherited ?? []).map((name) => [name, `\${env:${name}}`])),
  };
  const headers = optional(server.headers, (value) => pairs(value, "headers", fill)) ?? {};
  const cwd = command === undefined ? undefined : workingDir(server.cwd, reading, fill);
  const type = optional(server.type, readType);
  const timeout = optional(server.timeoutMs, readTimeout);
  const entry: ServerEntry = {
    ...(command !== undefined && { command }),
    ...(command !== undefined && args !== undefined && args.length > 0 && { args }),
    ...(command !== undefined && Object.keys(env).length > 0 && { env }),
    ...(cwd !== undefined && { cwd }),
    ...(url !== undefined && { url }),
    ...(url !== undefined && type !== undefined && type !== "stdio" && { type }),
    ...(url !== undefined && Object.keys(headers).length > 0 && { headers }),
    ...(server.disabled === true && { disabled: true }),
    ...(timeout !== undefined && { timeout }),
  };
  const untaken = [...(server.envFile === undefined ? [] : ["envFile"]), ...server.untaken];
  return { entry, needs: neededBy(JSON.stringify(entry)), untaken };
}

type Fill = (key: string, text: string, name?: string) => string;

/** A project's servers run in the project; others run where their own file says, if it does. */
function workingDir(value: unknown, { group, world }: Reading, fill: Fill): string | undefined {
  const base = group.project;
  const cwd = optional(value, (given) => fill("cwd", text(given, "cwd")));
  if (cwd === undefined) return base;
  return isAbsoluteAt(world, cwd) ? cwd : joinAt(world, base ?? world.home, cwd);
}

/** `null` is how some say nothing. */
function optional<T>(value: unknown, read: (value: unknown) => T): T | undefined {
  return value === undefined || value === null ? undefined : read(value);
}

function text(value: unknown, key: string): string {
  if (typeof value === "string" && value.trim() !== "" && value.length <= charsMax && !value.includes("\0"))
    return value;
  const found = Array.isArray(value) ? "a list; put what follows the first into args" : kindOf(value);
  throw new ServerFault(`expected a string; found ${found}`, key);
}

function texts(value: unknown): string[] {
  if (!Array.isArray(value))
    throw new ServerFault(`expected a list of strings; found ${kindOf(value)}`, "args");
  if (value.length > itemsMax) throw new ServerFault(`has more than ${itemsMax}`, "args");
  return value.map((item) => {
    if (typeof item === "string" && item.length <= charsMax && !item.includes("\0")) return item;
    throw new ServerFault(`expected a list of strings; found ${kindOf(item)} in it`, "args");
  });
}

function pairs(value: unknown, key: string, fill: Fill): Record<string, string> {
  if (!isObject(value)) throw new ServerFault(`expected an object; found ${kindOf(value)}`, key);
  const entries = Object.entries(value).filter(([, item]) => item !== null);
  if (entries.length > itemsMax) throw new ServerFault(`has more than ${itemsMax}`, key);
  return Object.fromEntries(
    entries.map(([name, item]) => {
      if (name === "__proto__" || name === "")
        throw new ServerFault(`${JSON.stringify(name)} cannot be a name`, key);
      if (typeof item === "number" || typeof item === "boolean") return [name, String(item)];
      if (typeof item === "string" && item.length <= charsMax && !item.includes("\0"))
        return [name, fill(key, item, name)];
      // Its value may be a secret: only its kind is told.
      throw new ServerFault(`expected strings; found ${kindOf(item)} at ${JSON.stringify(name)}`, key);
    }),
  );
}

function address(value: string): string {
  const url = URL.parse(value);
  if (url === null || !/^https?:$/.test(url.protocol))
    throw new ServerFault("is not an http or https address", "url");
  if (url.username !== "" || url.password !== "") {
    throw new ServerFault("has a name or password in it; put it into a header", "url");
  }
  return value;
}

function readType(value: unknown): ServerEntry["type"] {
  const type = typeof value === "string" && Object.hasOwn(types, value) ? types[value] : undefined;
  if (type !== undefined) return type;
  throw new ServerFault(`${JSON.stringify(value)?.slice(0, 40)} is not a transport mcpx has`, "type");
}

function readTimeout(value: unknown): string {
  if (typeof value === "number" && value > 0 && value < 1e9) return `${Math.ceil(value / 1_000)}s`;
  throw new ServerFault("expected a number above 0", "timeout");
}

function kindOf(value: unknown): string {
  if (Array.isArray(value)) return "a list";
  if (value === null) return "null";
  if (typeof value === "string") {
    if (value.trim() === "") return "an empty one";
    return value.includes("\0") ? "a string with a NUL character" : `a string of ${value.length} characters`;
  }
  return typeof value === "object" ? "an object" : `a ${typeof value}`;
}
