// Looks through the files of clients for servers. What is wrong with one file or server never hides another.
import { basename } from "node:path";
import { isObject } from "@mcpx/protocol";
import type { ServerEntry } from "../config-edit/edit-config.ts";
import { readWhole } from "../files/replace-file.ts";
import { Failure } from "../framework/failure.ts";
import type { Client, ClientFile, ClientId, ClientWorld, ServerGroup } from "./client.ts";
import { type ParsedFile, parseClientFile, valueAt } from "./parse-client-file.ts";
import { readServer, ServerFault, type ServerReading } from "./read-server.ts";

export interface FoundServer extends ServerReading {
  /** The client's name for the server. */
  name: string;
  client: ClientId;
  file: string;
  project: string | undefined;
  /** Its file lies in the working directory: the maker of that directory has written it. */
  isFromHere: boolean;
  /** Whether it is this very program. */
  isOurs: boolean;
}

export interface Findings {
  servers: FoundServer[];
  /** One line each, with the file and the place in it. */
  faults: string[];
  /** Every file that was looked for. */
  looked: { client: ClientId; path: string; isThere: boolean; isBroken?: boolean }[];
}

const serversMax = 1_000;

export function findServers(clients: readonly Client[], world: ClientWorld): Findings {
  const findings: Findings = { servers: [], faults: [], looked: [] };
  for (const client of clients) {
    for (const file of client.files(world)) lookInto(file, client, world, findings);
  }
  // The user's own first: they have the first choice of names, and count where two are the same.
  findings.servers.sort((a, b) => Number(a.isFromHere) - Number(b.isFromHere));
  return findings;
}

function lookInto(file: ClientFile, client: Client, world: ClientWorld, findings: Findings): void {
  try {
    const read = readWhole(file.path);
    // The working directory may be the home.
    const isSeen = findings.looked.some(({ path }) => path === file.path);
    if (isSeen) return;
    findings.looked.push({ client: client.id, path: file.path, isThere: read !== undefined });
    if (read === undefined) return;
    const parsed = parseClientFile(client.format, read.text, file.path);
    for (const group of client.groups(parsed.value, file, world))
      readGroup(parsed, group, file, client, world, findings);
  } catch (error) {
    findings.faults.push(error instanceof Failure ? error.message : `${file.path} cannot be read`);
    const looked = findings.looked.find(({ path }) => path === file.path);
    if (looked !== undefined) looked.isBroken = true;
  }
}

function readGroup(
  parsed: ParsedFile,
  group: ServerGroup,
  file: ClientFile,
  client: Client,
  world: ClientWorld,
  findings: Findings,
): void {
  const servers = valueAt(parsed.value, group.path);
  if (servers === undefined || servers === null) return;
  const fault = (path: readonly string[], text: string) =>
    findings.faults.push(`${parsed.placeOf(path)} ${text}`);
  if (!isObject(servers)) {
    fault(group.path, `${group.path.at(-1)}: expected an object with servers`);
    return;
  }
  for (const [name, server] of Object.entries(servers)) {
    const path = [...group.path, name];
    if (findings.servers.length >= serversMax) {
      fault(path, `more than ${serversMax} servers; the rest was not looked at`);
      return;
    }
    try {
      if (name === "__proto__" || name.trim() === "") throw new ServerFault("cannot be a name");
      if (!isObject(server)) throw new ServerFault("expected an object");
      const reading = readServer(client.written(server, parsed.value, name), { client, group, world });
      const { project } = group;
      findings.servers.push({
        ...reading,
        name,
        client: client.id,
        file: file.path,
        project,
        isFromHere: file.scope === "project",
        isOurs: isOurs(reading.entry),
      });
    } catch (error) {
      if (!(error instanceof ServerFault)) throw error;
      const at = error.key === undefined ? path : [...path, error.key];
      fault(at, `${name}: ${error.message}`);
    }
  }
}

/** What `mcpx connect` writes: importing it would make the tree its own branch. */
function isOurs({ command, args = [], headers = {} }: ServerEntry): boolean {
  if (command !== undefined) {
    const isMcpx = [command, ...args].some((word) => /^mcpx(\.js|\.cmd|\.exe)?$/.test(basename(word)));
    return isMcpx && args.includes("stdio");
  }
  return Object.values(headers).some(isOurToken);
}

function isOurToken(header: string): boolean {
  const [, head = ""] = /^Bearer ([A-Za-z0-9_-]{1,1000})\./.exec(header) ?? [];
  try {
    const value: unknown = JSON.parse(Buffer.from(head, "base64url").toString());
    return isObject(value) && value.typ === "mcpx+jwt";
  } catch {
    return false;
  }
}
