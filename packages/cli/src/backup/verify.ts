// Whether a backup can be used: SQLite's own check of the stores, the audit chain's, and every other file as listed.
import { createHash } from "node:crypto";
import { createReadStream, existsSync, lstatSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { createAudit, createLogger, createSqliteAuditStore, openState, systemClock } from "@mcpx/host";
import { parseConfig } from "../config/config.ts";
import { Failure } from "../framework/failure.ts";
import { storeFiles } from "./files.ts";
import { type ListedFile, readList } from "./list.ts";

export interface FileVerdict {
  file: string;
  /** Empty where it is sound. */
  problems: string[];
  audit?: { records: number; head: string };
}

export interface BackupVerdict {
  stores: FileVerdict[];
  /** Those beside the stores; `undefined` where nothing lists them. */
  files: FileVerdict[] | undefined;
}

export async function verifyBackup(dir: string): Promise<BackupVerdict> {
  const listed = readList(dir);
  const names = storeFiles.filter(
    (file) => existsSync(join(dir, file)) || listed?.some((one) => one.file === file),
  );
  if (names.length === 0)
    throw new Failure(`there is no backup in ${dir}`, `it would hold ${storeFiles.join(" and ")}`);
  const stores = await Promise.all(names.map((file) => verifyStore(join(dir, file), file)));
  if (listed === undefined) return { stores, files: undefined };
  const files: FileVerdict[] = [];
  for (const one of listed.filter(({ sha256 }) => sha256 !== undefined)) {
    files.push({ file: one.file, problems: await fileProblems(join(dir, one.file), one) });
  }
  return { stores, files };
}

async function fileProblems(path: string, { file, bytes, sha256 }: ListedFile): Promise<string[]> {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  if (stats === undefined) return ["it is missing"];
  if (!stats.isFile()) return ["it is not a file"];
  try {
    if (stats.size !== bytes || (await digestOf(path)) !== sha256)
      return ["it is not the file that was copied"];
    return isReadAsJson(file, path) ? [] : ["it is not JSON"];
  } catch (error) {
    return [error instanceof Failure ? error.message : `it cannot be read (${codeOf(error)})`];
  }
}

async function digestOf(path: string): Promise<string> {
  const sha256 = createHash("sha256");
  for await (const chunk of createReadStream(path)) sha256.update(chunk);
  return sha256.digest("hex");
}

/** Whatever else it may be. The configuration may hold comments, and is checked as the gateway would. */
function isReadAsJson(file: string, path: string): boolean {
  if (file === "mcpx.json") {
    parseConfig(readFileSync(path, "utf8"), file);
    return true;
  }
  if (!/\.(json|jwk)$/.test(file)) return true;
  try {
    JSON.parse(readFileSync(path, "utf8"));
    return true;
  } catch (error) {
    // Its text would quote the file, which may be a key.
    if (error instanceof SyntaxError) return false;
    throw error;
  }
}

function codeOf(error: unknown): string {
  return error instanceof Error && "code" in error ? String(error.code) : String(error);
}

async function verifyStore(path: string, file: string): Promise<FileVerdict> {
  const problems = [...integrityProblems(path)];
  if (file !== "state.db" || problems.length > 0) return { file, problems };
  const db = openState(path, { readOnly: true });
  try {
    const audit = createAudit({
      store: createSqliteAuditStore(db),
      clock: systemClock,
      log: createLogger({ level: "silent" }),
    });
    const chain = await audit.verify();
    if (!chain.ok) return { file, problems: [`the audit chain is broken at record ${chain.at}`] };
    return { file, problems, audit: { records: chain.records, head: chain.head } };
  } finally {
    db.close();
  }
}

function integrityProblems(path: string): string[] {
  let db: DatabaseSync | undefined;
  try {
    db = new DatabaseSync(path, { readOnly: true, timeout: 5_000 });
    const rows = db.prepare("PRAGMA integrity_check(20)").all();
    return rows.map((row) => String(row.integrity_check)).filter((text) => text !== "ok");
  } catch (error) {
    return [error instanceof Error ? error.message : String(error)];
  } finally {
    db?.close();
  }
}
