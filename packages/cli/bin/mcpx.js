#!/usr/bin/env node
// Starts mcpx: published, what was compiled; in a clone, the sources as they are (also after a build, which may be
// old), with a Node that can. Plain JavaScript for Node 18 too, so that an older one is told what is missing.
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import nodeModule from "node:module";
import { constants } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const here = fileURLToPath(new URL(".", import.meta.url));
const compiled = new URL("../dist/main.js", import.meta.url);
const sources = new URL("../src/main.ts", import.meta.url);
const asSources = "--conditions=mcpx-source";
const isNewEnough = Number.parseInt(process.versions.node, 10) >= 24;

if (existsSync(sources)) await runSources();
else if (isNewEnough) await import(compiled.href);
else refuse("install it from https://nodejs.org or with your version manager (nvm install 24)");

async function runSources() {
  const modules = join(here, "..", "..", "..", "node_modules");
  const node = isNewEnough ? process.execPath : join(modules, ".bin", "node");
  if (!existsSync(node)) return refuse("run `npm install` in the clone, which brings it");
  if (isNewEnough && process.execArgv.includes(asSources)) {
    // Compiled once instead of at every start. Beside the code: whoever may write there may change the code as well.
    nodeModule.enableCompileCache(join(modules, ".cache", "mcpx"));
    return import(sources.href);
  }
  const args = [...process.execArgv, asSources, fileURLToPath(import.meta.url), ...process.argv.slice(2)];
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
