// Makes a fresh machine ready: installs the npm packages when they are missing or older than the lock file,
// and, with --tests, the system packages the tests use. Plain JavaScript: it runs on whatever Node is there.
import { spawnSync } from "node:child_process";
import { existsSync, statSync, utimesSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const installed = join(root, "node_modules", ".package-lock.json");
const wanted = join(root, "package-lock.json");

/** Debian packages and the file whose presence shows that each is there. */
const systemPackages = [
  { name: "python3-websockets", shows: "/usr/lib/python3/dist-packages/websockets" },
  { name: "strace", shows: "/usr/bin/strace" },
  { name: "chromium", shows: "/usr/bin/chromium" },
];

function run(command, args) {
  const result = spawnSync(command, args, { cwd: root, stdio: ["ignore", "inherit", "inherit"] });
  return result.status === 0;
}

function fail(message) {
  process.stderr.write(`mcpx: ${message}\n`);
  process.exit(1);
}

/** npm notes there what it has installed, later than the lock file it was installed from. */
function isInstalled() {
  return existsSync(installed) && statSync(installed).mtimeMs >= statSync(wanted).mtimeMs;
}

if (!isInstalled()) {
  process.stderr.write("mcpx: installing packages…\n");
  // Not `npm ci`: it refuses a lock file without the binaries of platforms that its registry did not have. This
  // installs the same versions and changes neither package.json nor the lock file.
  const isDone = run("npm", ["install", "--no-save", "--no-audit", "--no-fund", "--loglevel=error"]);
  if (!isDone) fail("`npm install` failed; see its message above");
  // Nothing to install leaves npm's note untouched: ours says that it was looked at.
  utimesSync(installed, new Date(), new Date());
}

if (process.argv.includes("--tests")) {
  const missing = systemPackages.filter(({ shows }) => !existsSync(shows)).map(({ name }) => name);
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
