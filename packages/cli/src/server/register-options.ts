// The command line of `mcpx register`: what to start, where to register it and with what credentials. All of it is
// looked at before anything is opened.
import type { ParentOptions, Transport } from "@mcpx/aggregator";
import { isDnsName } from "@mcpx/host";
import { accessGateway } from "../access/gateway-access.ts";
import { runningPlace } from "../access/running-gateway.ts";
import type { RegisterContext } from "../commands/tree/register.ts";
import { dataDirOf } from "../files/data-dir.ts";
import { durationRule, parseDuration } from "../framework/duration.ts";
import { misuse } from "../framework/failure.ts";
import { findCommand } from "../framework/find-program.ts";
import { checkPlainText, readLinkTls } from "../settings/link-security.ts";

export interface RegisterWish {
  segment: string;
  transport: Transport;
  parent: ParentOptions;
}

const schemes = ["ws:", "wss:", "http:", "https:"];
const files = { ca: "--ca", cert: "--cert", key: "--cert-key" };

export function readRegister(context: RegisterContext): RegisterWish {
  const { options, words, cwd } = context;
  const [url = "", segment = ""] = words;
  const { backup, insecure, ca, cert, "cert-key": key } = options;
  for (const one of [url, ...backup]) checkAddress(one);
  if (!/^[a-z0-9_-]{1,63}$/.test(segment)) {
    throw misuse(`${JSON.stringify(segment)} cannot be a segment`, "use 1 to 63 characters of a-z 0-9 _ -");
  }
  const transport = readServer(context);
  checkPlainText([url, ...backup], insecure, "--insecure");
  return {
    segment,
    transport,
    parent: {
      url,
      segment,
      token: readToken(context, url, segment),
      authority: readAuthority(options.authority),
      backups: backup,
      heartbeatMs: readHeartbeat(options.heartbeat),
      tls: readLinkTls({ ca, cert, key }, cwd, files),
      isInsecure: insecure,
    },
  };
}

function checkAddress(text: string): void {
  const url = URL.parse(text);
  if (url !== null && schemes.includes(url.protocol) && url.username === "" && url.password === "") return;
  throw misuse(
    `${JSON.stringify(text)} is not the address of a tree`,
    "write for example wss://tree.example.com, and the token as --token",
  );
}

function readServer({ options, words, cwd, env }: RegisterContext): Transport {
  const [, , command, ...args] = words;
  const { server } = options;
  if ((server === undefined) === (command === undefined)) {
    throw misuse(
      server === undefined ? "there is no server to register" : "--server and a command cannot be combined",
      "write mcpx register URL SEGMENT -- CMD…, or --server URL instead of the command",
    );
  }
  if (server !== undefined) {
    if (/^https?:/.test(URL.parse(server)?.protocol ?? "")) return { type: "auto-http", url: server };
    throw misuse(`--server ${server} is not an http or https address`, "write http://127.0.0.1:3000/mcp");
  }
  checkCommand(command ?? "", { path: env.PATH, cwd });
  // Our own token is none of its business.
  const { MCPX_TOKEN: _, ...rest } = env;
  return { type: "stdio", command: command ?? "", args, cwd, env: rest };
}

/** It is started when somebody asks for it; that it never can be is said now. */
function checkCommand(command: string, where: Parameters<typeof findCommand>[1]): void {
  const found = findCommand(command, where);
  if (typeof found === "object") return;
  throw misuse(`${command} is ${found === "missing" ? "not there or not on PATH" : "not executable"}`);
}

/** A client certificate replaces the token. */
function readToken(context: RegisterContext, url: string, segment: string): ParentOptions["token"] {
  const { options } = context;
  const { scope = "write", cert, backup } = options;
  if (cert !== undefined && options.token === undefined) return undefined;
  const origin = originOf(url);
  const place = runningPlace(dataDirOf(context, options));
  const isOurs = place !== undefined && originOf(place.url) === origin;
  const claims = { sub: `register:${segment}`, topics: [], segment, scope };
  const there = { ...options, url: isOurs ? undefined : origin };
  const access = accessGateway({ ...context, options: there }, claims, "URL");
  // The server at that address could use the token at our own gateway. [AX-10.1-2]
  if (access.mintsTokens && backup.length > 0) {
    throw misuse("--backup needs a token that is good there too", "give --token TOKEN or set MCPX_TOKEN");
  }
  return async () => (await access.enter()).token;
}

function originOf(url: string): string {
  return new URL(url.replace(/^ws/, "http")).origin;
}

function readAuthority(given: string | undefined): string | undefined {
  if (given === undefined) return undefined;
  const name = given.replace(/^dns:/, "").toLowerCase();
  if (!isDnsName(name)) throw misuse(`--authority ${given} is not a DNS name`, "write edge01.example.com");
  return `dns:${name}`;
}

function readHeartbeat(given: string | undefined): number | undefined {
  if (given === undefined) return undefined;
  const ms = parseDuration(given);
  if (ms === undefined) throw misuse(`--heartbeat ${given} is not ${durationRule}`, "write for example 5s");
  return ms;
}
