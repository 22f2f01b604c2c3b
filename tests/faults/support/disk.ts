// File systems that can be cut off or filled up. Needs root and mounts; `mayMount` says whether they are there.
import { execFile, execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { onTestFinished } from "vitest";

export interface Disk {
  readonly path: string;
  /** The power fails, under load too: nothing that was not durable will be there again. */
  cutPower(): Promise<void>;
  /** The power is back. Whoever used the disk must have ended. */
  mountAgain(): void;
}

const works = (command: string, ...args: string[]): boolean => spawnSync(command, args).status === 0;

/** In CI root must be able to, so that the strong form of a test is never left out there unseen. */
export function mayMount(): boolean {
  if (process.getuid?.() !== 0) return false;
  return process.env.CI !== undefined || (works("unshare", "--mount", "true") && works("losetup", "--find"));
}

/** A directory for this test alone; gone when it ends. */
export function newDirectory(): string {
  const path = mkdtempSync(join(tmpdir(), "mcpx-fault-"));
  onTestFinished(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

/** An ext4 file system in a file. */
export function newDisk(): Disk {
  const directory = newDirectory();
  const image = join(directory, "image");
  const path = join(directory, "disk");
  mkdirSync(path);
  writeFileSync(image, "");
  truncateSync(image, 256 * 1_048_576);
  execFileSync("mkfs.ext4", ["-q", image]);
  const mount = () => execFileSync("mount", ["-o", "loop", image, path]);
  mount();
  onTestFinished(() => unmount(path));
  return {
    path,
    cutPower: async () => {
      await promisify(execFile)("/usr/bin/python3", [join(import.meta.dirname, "power-off.py"), path]);
    },
    mountAgain: () => {
      unmount(path);
      mount();
    },
  };
}

/** A file system in memory that is soon full. */
export function newSmallDisk(size: string): string {
  const path = newDirectory();
  execFileSync("mount", ["-t", "tmpfs", "-o", `size=${size}`, "mcpx-fault", path]);
  onTestFinished(() => unmount(path));
  return path;
}

/** Once, or later when whoever still holds it has ended: a mount is never left behind. */
function unmount(path: string): void {
  if (!works("umount", path)) execFileSync("umount", ["--lazy", path]);
}
