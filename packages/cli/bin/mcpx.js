#!/usr/bin/env node
// Starts mcpx: published, what was compiled; in a clone, the sources as they are (also after a build, which may be
// old), with a Node that can. Plain JavaScript for Node 18 too, so that an older one is told what is missing.
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { constants } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const here = fileURLToPath(new URL(".", import.meta.url));
const compiled = new URL("../dist/main.js", import.meta.url);
const sources = join(here, "..", "src", "main.ts");
const isNewEnough = Number.parseInt(process.versions.node, 10) >= 24;

if (existsSync(sources)) runSources();
else if (isNewEnough) await import(compiled.href);
else refuse("install it from https://nodejs.org or with your version manager (nvm install 24)");

function runSources() {
  const own = join(here, "..", "..", "..", "node_modules", ".bin", "node");
  const node = isNewEnough ? process.execPath : own;
  if (!existsSync(node)) return refuse("run `npm install` in the clone, which brings it");
  const args = [...process.execArgv, "--conditions=mcpx-source", sources, ...process.argv.slice(2)];
  if (typeof process.execve === "function") {
    try {
      process.execve(node, [node, ...args], process.env);
    } catch {
      // Not on this system: a child does as well.
    }
  }
  runChild(node, args);
}

function runChild(node, args) {
  // The channel carries nothing; its end tells the child that this process is gone, even after kill -9.
  const child = spawn(node, args, { stdio: ["inherit", "inherit", "inherit", "ipc"] });
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT"]) {
    process.on(signal, () => child.kill(signal));
  }
  child.on("error", (error) => {
    process.stderr.write(`mcpx: ${node} cannot be started: ${error.message}\n`);
    process.exitCode = 1;
  });
  child.on("exit", (code, signal) => {
    process.exit(code === null ? 128 + (constants.signals[signal] || 0) : code);
  });
}

function refuse(fix) {
  process.stderr.write(`mcpx: Node 24 or newer is needed and this is ${process.version}; ${fix}\n`);
  process.exitCode = 1;
}
