// The kinds of value a configuration has. Each says what it expects in words for people, with an example. Pure.
import { lineForms, readLine } from "@mcpx/devices";
import { isId, isLevel, levels } from "@mcpx/protocol";
import { z } from "zod";
import { durationRule, parseDuration } from "../framework/duration.ts";
import { suggestion } from "../framework/nearest.ts";

/** A value checked as a whole; `expected` completes "expected …". `form` is what a JSON Schema can say of it. */
function value<T>(
  expected: string,
  example: unknown,
  check: (value: unknown) => boolean,
  form: object = { type: typeof example },
) {
  return z
    .custom<T>(check, {
      error: ({ input }) => expectation(`${expected}, for example ${JSON.stringify(example)}`, input),
    })
    .meta({ ...form, examples: [example] });
}

export function expectation(expected: string, input: unknown): string {
  if (input === undefined) return `is missing; expected ${expected}`;
  return `expected ${expected}; found ${shortJson(input)}`;
}

export function oneOf<const T extends string>(names: readonly T[]) {
  return z
    .custom<T>((input) => names.includes(input as T), {
      error: ({ input }) => {
        const meant =
          typeof input === "string" ? suggestion(JSON.stringify(input), names.map(quoted)) : undefined;
        const rule = expectation(`one of ${names.map(quoted).join(", ")}`, input);
        return meant === undefined ? rule : `${rule}; ${meant}`;
      },
    })
    .meta({ enum: names });
}

export const flag = z
  .custom<boolean>((input) => typeof input === "boolean", {
    error: ({ input }) => expectation("true or false", input),
  })
  .meta({ type: "boolean" });

export const port = value<number>(
  "a whole number from 0 to 65535",
  6279,
  (input) => isWhole(input, 0, 65_535),
  { type: "integer", minimum: 0, maximum: 65_535 },
);

export const count = value<number>("a whole number from 1", 10_000, (input) => isWhole(input, 1), {
  type: "integer",
  minimum: 1,
});

export const positive = value<number>(
  "a number above 0",
  10,
  (input) => typeof input === "number" && Number.isFinite(input) && input > 0,
  { type: "number", exclusiveMinimum: 0 },
);

export const costUnits = value<number>(
  "a number from 0",
  10,
  (input) => typeof input === "number" && Number.isFinite(input) && input >= 0,
  { type: "number", minimum: 0 },
);

export const finite = value<number>("a number", 0.1, (input) => Number.isFinite(input));

export const byte = value<number>("a whole number from 0 to 255", 2, (input) => isWhole(input, 0, 255), {
  type: "integer",
  minimum: 0,
  maximum: 255,
});

export const crcBits = value<0 | 8 | 16>("0, 8 or 16", 16, (input) => [0, 8, 16].includes(input as number), {
  enum: [0, 8, 16],
});

/** Where a device is. */
export const line = value<string>(`a line: ${lineForms}`, "serial:/dev/ttyUSB0", isLine);

export const text = (what: string, example: string) =>
  value<string>(what, example, (input) => typeof input === "string" && input !== "");

export const anyText = value<string>("a string", "value", (input) => typeof input === "string");

/** A value with nothing inside it. */
export const plainValue = value<string | number | boolean | null>(
  "a string, a number, true, false or null",
  "/tmp/**",
  (input) => input === null || ["string", "number", "boolean"].includes(typeof input),
  { type: ["string", "number", "boolean", "null"] },
);

export const level = oneOf([...levels].reverse().filter(isLevel));

export const id = value<string>(idRule("an id"), "alice", (input) => isId(input));

export const roomName = value<string>(idRule("a room's name"), "ops", (input) => isId(input));

export const topicGlob = value<string>(idRule("a room's name or glob"), "team/*", isTopicGlob);

/** Written as people do, read as milliseconds. */
export const duration = value<string>(durationRule, "30d", isDuration).transform(toMs);

export const durationOrZero = value<string | 0>(
  `0 or ${durationRule}`,
  "30s",
  (input) => input === 0 || isDuration(input),
  { anyOf: [{ const: 0 }, { type: "string" }] },
).transform((input) => (input === 0 ? 0 : toMs(input)));

export const hostName = value<string>("an address or host name", "127.0.0.1", isHostName);

export const servedHost = value<string>(
  "a host name, with a port or without",
  "mcpx.example.com",
  (input) => typeof input === "string" && URL.parse(`http://${input}`)?.host === input.toLowerCase(),
);

export const origin = value<string>("an origin as browsers write it", "https://app.example.com", isOrigin);

export const keySetUrl = value<string>(
  "an https address (http only on this machine)",
  "https://login.example.com/.well-known/jwks.json",
  isKeySetUrl,
);

export const segment = value<string>(
  "a segment of 1 to 63 characters out of a-z 0-9 _ -",
  "files",
  (input) => typeof input === "string" && /^[a-z0-9_-]{1,63}$/.test(input),
);

export const toolGlob = value<string>("a tool's name or glob", "files.*", isToolGlob);

/** Over the names a server gives its tools, which may be any. */
export const ownToolGlob = value<string>(
  "a name or glob of the server's own tools",
  "read_*",
  (input) => typeof input === "string" && input !== "" && input.length <= 256,
);

export const serverUrl = value<string>("an http or https address", "http://127.0.0.1:3000/mcp", isServerUrl);

export const xmppService = value<string>(
  "the address of an XMPP server: xmpp or xmpps",
  "xmpps://chat.example.com:5223",
  (input) => typeof input === "string" && /^xmpps?:\/\/[a-z0-9.:[\]-]+$/i.test(input) && URL.canParse(input),
);

export const hostPort = value<string>(
  "an address and a port to listen at",
  "127.0.0.1:9009",
  (input) =>
    typeof input === "string" && /^[a-z0-9.-]+:\d{1,5}$/i.test(input) && URL.canParse(`http://${input}`),
);

/** What was found instead is not told: it may be a password. */
function unseen(expected: string, example: string, form: RegExp) {
  return z
    .custom<string>((input) => typeof input === "string" && form.test(input), {
      error: () => `expected ${expected}, for example ${JSON.stringify(example)}`,
    })
    .meta({ type: "string", examples: [example] });
}

/** A reference may stand for all of it, or for a part. What is in it is read when it is opened. */
export const store = unseen(
  "the address of a PostgreSQL",
  "postgres://mcpx:${env:MCPX_STORE_PASSWORD}@db.example.com/mcpx",
  /^(postgres(ql)?:\/\/\S+|\$\{(env|file):[^}]+\})$/,
);

export const storeKey = unseen(
  "a key of 32 bytes in base64url, or a reference to one",
  "${file:/run/secrets/mcpx-store.key}",
  /^(\$\{(env|file):[^}]+\}|[A-Za-z0-9_-]{43,})$/,
);

export const axUrl = value<string>(
  "the address of a tree: ws, wss, http or https",
  "wss://tree.example.com/ax",
  isAxUrl,
);

export const dnsAuthority = value<string>(
  "dns: and a DNS name",
  "dns:edge01.example.com",
  (input) => typeof input === "string" && /^dns:[a-z0-9][a-z0-9.-]{0,252}$/.test(input),
).transform((input) => input.slice("dns:".length));

function isLine(input: unknown): boolean {
  try {
    return typeof input === "string" && readLine(input) !== undefined;
  } catch (error) {
    if (error instanceof RangeError) return false;
    throw error;
  }
}

function isAxUrl(input: unknown): boolean {
  const url = typeof input === "string" ? URL.parse(input) : null;
  return url !== null && ["ws:", "wss:", "http:", "https:"].includes(url.protocol) && url.username === "";
}

function isToolGlob(input: unknown): boolean {
  return typeof input === "string" && /^[a-z0-9_.*-]{1,256}$/.test(input);
}

function isServerUrl(input: unknown): boolean {
  const url = typeof input === "string" ? URL.parse(input) : null;
  return url !== null && (url.protocol === "https:" || url.protocol === "http:") && url.username === "";
}

function idRule(what: string): string {
  return `${what} of 1 to 128 characters out of A-Z a-z 0-9 . _ : @ / + -`;
}

function isWhole(input: unknown, min: number, max = Number.MAX_SAFE_INTEGER): boolean {
  return typeof input === "number" && Number.isSafeInteger(input) && input >= min && input <= max;
}

function isTopicGlob(input: unknown): boolean {
  return typeof input === "string" && isId(input.replaceAll("*", "x"));
}

function isDuration(input: unknown): boolean {
  return typeof input === "string" && parseDuration(input) !== undefined;
}

function toMs(input: string): number {
  return parseDuration(input) ?? 0;
}

function isHostName(input: unknown): boolean {
  if (typeof input !== "string") return false;
  const bracketed = input.includes(":") ? `[${input}]` : input;
  return URL.parse(`http://${bracketed}/`)?.host === bracketed.toLowerCase();
}

function isOrigin(input: unknown): boolean {
  return typeof input === "string" && /^https?:/.test(input) && URL.parse(input)?.origin === input;
}

function isKeySetUrl(input: unknown): boolean {
  const url = typeof input === "string" ? URL.parse(input) : null;
  if (url?.protocol === "https:") return true;
  return url?.protocol === "http:" && isThisMachine(url.hostname);
}

/** Of an address as `URL` writes it. */
export function isThisMachine(hostname: string): boolean {
  return ["127.0.0.1", "localhost", "[::1]"].includes(hostname);
}

function quoted(name: string): string {
  return JSON.stringify(name);
}

function shortJson(input: unknown): string {
  const json = JSON.stringify(input) ?? String(input);
  return json.length <= 40 ? json : `${json.slice(0, 39)}…`;
}
