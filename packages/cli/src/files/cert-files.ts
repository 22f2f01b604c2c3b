// The files of `mcpx cert`: a directory with one authority, what it has signed, and their keys, which nobody else may
// read. What is there is never overwritten unasked.
import { X509Certificate } from "node:crypto";
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { type CertificatePair, makeCertificate } from "@mcpx/host";
import type { Context } from "../framework/command.ts";
import { dataOption } from "../framework/command.ts";
import { Failure, misuse } from "../framework/failure.ts";
import { dataDirOf } from "./data-dir.ts";
import { readWhole, replaceFile } from "./replace-file.ts";

export const certOptions = {
  dir: {
    type: "string",
    values: "directory",
    value: "DIR",
    about: "where the files are (default: certs in the data directory)",
  },
  force: { type: "boolean", about: "replace files that are there" },
  ...dataOption,
} as const;

/** Options of commands that make a signed certificate. */
export const signedOptions = {
  days: { type: "string", value: "N", about: "how long it is valid, 825 days at most (default: 397)" },
  ...certOptions,
} as const;

export interface PairPaths {
  cert: string;
  key: string;
}

const dayMs = 86_400_000;
/** Clocks differ: a machine whose clock is a little behind must not have to wait. */
const earlierMs = 5 * 60_000;

export function certDirOf(context: Pick<Context<typeof certOptions>, "cwd" | "env" | "options">): string {
  const { cwd, options } = context;
  return options.dir === undefined ? join(dataDirOf(context, options), "certs") : resolve(cwd, options.dir);
}

export function authorityPaths(dir: string): PairPaths {
  return pathsFor(dir, "ca");
}

function pathsFor(dir: string, name: string): PairPaths {
  // Colons of an address are no part of a file's name everywhere.
  const base = join(dir, name.replaceAll(":", "_"));
  return { cert: `${base}.pem`, key: `${base}-key.pem` };
}

/** From now on, for so many days. */
export function spanOf(
  given: string | undefined,
  { standard, max }: { standard: number; max: number },
): { from: Date; until: Date } {
  const days = given === undefined ? standard : Number(given);
  if (!Number.isInteger(days) || days < 1 || days > max) {
    throw misuse(`--days ${given} is not a number of days`, `write one from 1 to ${max}`);
  }
  return { from: new Date(Date.now() - earlierMs), until: new Date(Date.now() + days * dayMs) };
}

/** The authority of the directory, which must not have ended. */
function readAuthority(dir: string): CertificatePair {
  const { cert, key } = authorityPaths(dir);
  const [certFile, keyFile] = [readWhole(cert), readWhole(key)];
  if (certFile === undefined || keyFile === undefined) {
    const missing = certFile === undefined ? cert : key;
    throw new Failure(`there is no authority: ${missing} is missing`, "make one with mcpx cert ca");
  }
  const endsAt = readEnd(certFile.text, cert);
  if (endsAt.getTime() <= Date.now()) {
    throw new Failure(`the authority ended on ${isoDay(endsAt)}`, "make a new one with mcpx cert ca --force");
  }
  return { cert: certFile.text, key: keyFile.text };
}

/** A certificate that the authority of the directory signs, written to the file of that name. */
export function writeSigned(
  context: Pick<Context<typeof signedOptions>, "cwd" | "env" | "options">,
  { file, ...wanted }: { use: "server" | "client"; names: readonly string[]; file: string },
): { authority: string; paths: PairPaths; pair: CertificatePair } {
  const { days, force } = context.options;
  const span = spanOf(days, { standard: 397, max: 825 });
  const dir = certDirOf(context);
  const pair = makeCertificate({ ...wanted, ...span }, readAuthority(dir));
  const paths = pathsFor(dir, file);
  writePair(paths, pair, force);
  return { authority: authorityPaths(dir).cert, paths, pair };
}

/** The key before its certificate: of two that make the same at once, one gets both and the other none. */
export function writePair(paths: PairPaths, pair: CertificatePair, isForced: boolean): void {
  for (const path of [paths.key, paths.cert]) {
    if (!isForced && readWhole(path) !== undefined) throw taken(path);
  }
  write(paths.key, pair.key, 0o600);
  write(paths.cert, pair.cert, 0o644);
}

function write(path: string, text: string, mode: number): void {
  const before = readWhole(path);
  if (before !== undefined) {
    replaceFile(path, text, mode, before);
    return;
  }
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    writeFileSync(path, text, { mode, flag: "wx" });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "EEXIST") throw taken(path);
    throw new Failure(`${path} cannot be written (${code})`, "choose another place with --dir DIR");
  }
}

/** Prints what was made and what to put into `mcpx.json` for it. */
export function tellMade(
  { options, output }: Pick<Context<typeof certOptions>, "options" | "output">,
  { paths, pair, config, hint }: { paths: PairPaths; pair: CertificatePair; config: object; hint: string },
): void {
  const { fingerprint256, validToDate } = new X509Certificate(pair.cert);
  if (options.json) {
    output.json({
      ...paths,
      fingerprint256,
      expires_at: validToDate.toISOString(),
      config,
    });
    return;
  }
  output.line(paths.cert);
  output.line(paths.key);
  output.line(`until ${isoDay(validToDate)}`);
  output.line(`\n${hint}`);
  output.line(JSON.stringify(config, null, 2));
}

function readEnd(pem: string, path: string): Date {
  try {
    return new X509Certificate(pem).validToDate;
  } catch (error) {
    throw new Failure(`${path} is not a certificate`, "make a new one with mcpx cert ca --force", {
      cause: error,
    });
  }
}

function taken(path: string): Failure {
  return new Failure(`${path} is there already`, "replace it with --force");
}

function isoDay(date: Date): string {
  return date.toISOString().slice(0, 10);
}
