// What secures a link to a tree above: its address, and PEM files that are looked at before anything is opened.
// [AX-10.4-1]
import { X509Certificate } from "node:crypto";
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { createSecureContext } from "node:tls";
import { isPlainAbroad, type ParentOptions } from "@mcpx/aggregator";
import { Failure } from "../framework/failure.ts";

/** Paths, or what the user calls them. */
interface LinkFiles {
  ca?: string | undefined;
  cert?: string | undefined;
  key?: string | undefined;
}

/** `allow`: how the user allows it. */
export function checkPlainText(
  urls: readonly string[],
  isInsecure: boolean | undefined,
  allow: string,
): void {
  const plain = isInsecure === true ? undefined : urls.find(isPlainAbroad);
  if (plain === undefined) return;
  throw new Failure(
    `${plain} is plain text over a network`,
    `write wss:// or https://, or allow it with ${allow}`,
  );
}

/** Relative paths are below `dir`. */
export function readLinkTls(
  files: LinkFiles,
  dir: string,
  names: Required<LinkFiles>,
): NonNullable<ParentOptions["tls"]> {
  const read = (part: keyof LinkFiles) =>
    files[part] === undefined ? undefined : readPem(resolve(dir, files[part]), String(names[part]));
  const [ca, cert, key] = [read("ca"), read("cert"), read("key")];
  if ((cert === undefined) !== (key === undefined)) {
    throw new Failure(`${names.cert} and ${names.key} must be given together`, "give both or neither");
  }
  // A text without any certificate would trust nobody without saying so.
  if (ca !== undefined) check(`${names.ca}: there is no certificate in it`, () => new X509Certificate(ca));
  check(`${names.cert} and ${names.key} are not a certificate and its private key`, () =>
    createSecureContext({ cert, key }),
  );
  return { ca, cert, key };
}

function check(fault: string, attempt: () => void): void {
  try {
    attempt();
  } catch (cause) {
    throw new Failure(fault, "give PEM files such as mcpx cert makes", { cause });
  }
}

function readPem(path: string, name: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new Failure(`${name}: ${path} cannot be read (${code})`, "give the path of a PEM file");
  }
}
