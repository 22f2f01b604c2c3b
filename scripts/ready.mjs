// Makes a fresh machine ready: installs the npm packages when they are missing or older than the lock file, and builds
// the web console when its sources are newer. With --run only what running needs is installed; with --tests the system
// packages the tests use are, too. Plain JavaScript: it runs on whatever Node is there.
import { spawnSync } from "node:child_process";
import { existsSync, readdirSync, statSync, utimesSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { soakPackages, systemPackages } from "./workbench/system-packages.mjs";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const modules = join(root, "node_modules");
const installed = join(modules, ".package-lock.json");
const wanted = join(root, "package-lock.json");
const isNodeOld = Number.parseInt(process.versions.node, 10) < 24;

function run(command, args) {
  const result = spawnSync(command, args, { cwd: root, stdio: ["ignore", "inherit", "inherit"] });
  return result.status === 0;
}

function fail(message) {
  process.stderr.write(`mcpx: ${message}\n`);
  process.exit(1);
}

/** Says what is done and how long it took: a first start takes a while. */
function step(message, work) {
  process.stderr.write(`mcpx: ${message}…\n`);
  const beganMs = Date.now();
  const isDone = work();
  if (isDone) process.stderr.write(`mcpx: done in ${Math.round((Date.now() - beganMs) / 100) / 10} s\n`);
  return isDone;
}

/** npm notes there what it has installed, later than the lock file it was installed from. */
function isUpToDate() {
  return existsSync(installed) && statSync(installed).mtimeMs >= statSync(wanted).mtimeMs;
}

/** Whether tools that only tests and builds use are there. */
const hasTools = existsSync(join(modules, "vitest"));
/** What running needs of it, on this machine. */
const canRun = existsSync(join(modules, "mcpx")) && (!isNodeOld || existsSync(join(modules, ".bin", "node")));

// Where everything was installed once, everything is kept up to date.
const wantsTools = hasTools || !process.argv.includes("--run");

/** The workspaces that running needs: the command, the pages it serves, the examples, and, where there is none, a Node. */
function runningOnly() {
  const workspaces = ["mcpx", "@mcpx/console", "@mcpx/examples", ...(isNodeOld ? ["@mcpx/node-24"] : [])];
  // Libraries that are optional peers are for those who install them.
  return ["--omit=dev", "--legacy-peer-deps", ...workspaces.map((name) => `--workspace=${name}`)];
}

function install() {
  // Not `npm ci`: it refuses a lock file without the binaries of platforms that its registry did not have. This
  // installs the same versions and changes neither package.json nor the lock file.
  const quiet = ["--no-save", "--no-audit", "--no-fund", "--loglevel=error"];
  const isDone = run("npm", ["install", ...quiet, ...(wantsTools ? [] : runningOnly())]);
  if (!isDone) fail("`npm install` failed; see its message above");
  // Nothing to install leaves npm's note untouched: ours says that it was looked at.
  utimesSync(installed, new Date(), new Date());
  return true;
}

if (!isUpToDate() || !canRun || (wantsTools && !hasTools)) {
  step(wantsTools ? "installing all packages" : "installing what running needs, about 110 packages", install);
}

/** When anything the console is made of was changed last. */
function consoleChangedMs() {
  const parts = [
    "index.html",
    "approve.html",
    "authorize.html",
    "vite.config.ts",
    "src",
    "../client/src",
    "../protocol/src",
  ];
  const paths = parts.map((part) => join(root, "packages", "console", part));
  const files = paths.flatMap((path) =>
    statSync(path).isDirectory()
      ? readdirSync(path, { recursive: true }).map((file) => join(path, file))
      : path,
  );
  return Math.max(...files.map((file) => statSync(file).mtimeMs));
}

const built = join(root, "packages", "console", "dist", "index.html");
if (!existsSync(built) || statSync(built).mtimeMs < consoleChangedMs()) {
  const build = () => run("npm", ["run", "--silent", "console", "--", "--logLevel=error"]);
  if (!step("building the web console", build)) {
    process.stderr.write("mcpx: the web console could not be built; everything else works\n");
  }
}

if (process.argv.includes("--tests")) {
  const wishes = process.argv.includes("--soak") ? [...systemPackages, ...soakPackages] : systemPackages;
  const missing = wishes.filter(({ shows }) => !existsSync(shows)).map(({ name }) => name);
  if (missing.length > 0) {
    const install = `apt-get install -y --no-install-recommends ${missing.join(" ")}`;
    const mayInstall = process.getuid?.() === 0 && existsSync("/usr/bin/apt-get");
    const done =
      mayInstall &&
      run("apt-get", ["update", "-qq"]) &&
      run("apt-get", [...install.split(" ").slice(1), "-qq"]);
    if (!done) {
      const message = `the tests need ${missing.join(", ")}; install with: sudo ${install}`;
      if (process.env.CI) fail(message);
      process.stderr.write(`mcpx: ${message}\nmcpx: tests that need them will fail until then\n`);
    }
  }
}
