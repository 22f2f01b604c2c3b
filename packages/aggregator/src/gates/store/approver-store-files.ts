// Approvers as files only their owner may write: DIRECTORY/NAME.json, which people may look at, copy and delete.
import { linkSync } from "node:fs";
import { chmod, type FileHandle, mkdir, open, readdir, readFile, unlink } from "node:fs/promises";
import { join } from "node:path";
import { writeWhole } from "@mcpx/host";
import { McpxError } from "@mcpx/protocol";
import { type Approver, type ApproverStore, isApproverName, readApprover } from "./approver-store.ts";

const bytesMax = 16_384;
const suffix = ".json";

export async function createFileApproverStore(directory: string): Promise<ApproverStore> {
  await mkdir(directory, { recursive: true, mode: 0o700 });
  // It may have been there before, with the rights of somebody less careful.
  await chmod(directory, 0o700);
  const pathOf = (name: string) => join(directory, `${name}${suffix}`);
  let counting: Promise<void> = Promise.resolve();
  const names = async () => {
    const files = (await readdir(directory)).filter((file) => file.endsWith(suffix));
    return files.map((file) => file.slice(0, -suffix.length)).filter(isApproverName);
  };
  return {
    async list() {
      const sorted = (await names()).sort();
      return Promise.all(sorted.map(async (name) => parse(name, await readFile(pathOf(name), "utf8"))));
    },
    async add(approver) {
      const read = readApprover(approver);
      const { name } = read;
      const isTaken = (await names()).some((other) => other.toLowerCase() === name.toLowerCase());
      if (isTaken || !create(pathOf(name), textOf(read))) {
        throw new McpxError("id_conflict", "there is an approver of this name");
      }
    },
    remove: async (name) => isApproverName(name) && (await unlinkKnown(pathOf(name))),
    keepCounter(name, counter) {
      // One write after the other, also after a write that failed.
      const next = counting.then(() => writeCounter(pathOf(name), name, counter));
      counting = next.catch(() => {});
      return next;
    },
  };
}

/** In its place, so that who was deleted meanwhile stays so. */
async function writeCounter(path: string, name: string, counter: number): Promise<void> {
  const file = await openKnown(path);
  if (file === undefined) return;
  try {
    const approver = parse(name, await file.readFile("utf8"));
    if (!("passkey" in approver) || counter <= approver.passkey.counter) return;
    const text = textOf({ ...approver, passkey: { ...approver.passkey, counter } });
    await file.write(text, 0);
    await file.truncate(Buffer.byteLength(text));
    await file.sync();
  } finally {
    await file.close();
  }
}

function textOf(approver: Approver): string {
  return `${JSON.stringify(approver)}\n`;
}

function parse(name: string, text: string): Approver {
  try {
    if (text.length > bytesMax) throw new Error("the file is too large");
    const approver = readApprover(JSON.parse(text));
    if (approver.name !== name) throw new Error("the name in the file is not the file's name");
    return approver;
  } catch (error) {
    throw new Error(`approver ${name}: ${(error as Error).message}`, { cause: error });
  }
}

/** Never over another; false where there is one. */
function create(path: string, text: string): boolean {
  try {
    writeWhole(path, text, { place: linkSync });
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw error;
  }
}

async function unlinkKnown(path: string): Promise<boolean> {
  try {
    await unlink(path);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return false;
    throw error;
  }
}

async function openKnown(path: string): Promise<FileHandle | undefined> {
  try {
    return await open(path, "r+");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}
