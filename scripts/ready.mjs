// Makes a fresh machine ready: installs the npm packages when they are missing or older than the lock file,
// and, with --tests, the system packages the tests use. Plain JavaScript: it runs on whatever Node is there.
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, statSync } from "node:fs";
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

function isInstalled() {
  if (!existsSync(installed)) return false;
  if (statSync(installed).mtimeMs >= statSync(wanted).mtimeMs) return true;
  const versions = (file) => {
    const { packages } = JSON.parse(readFileSync(file, "utf8"));
    return JSON.stringify(
      Object.entries(packages)
        .filter(([path]) => path !== "")
        .map(([path, p]) => [path, p.version]),
    );
  };
  return versions(installed) === versions(wanted);
}

if (!isInstalled()) {
  process.stderr.write("mcpx: installing packages…\n");
  if (!run("npm", ["ci", "--no-audit", "--no-fund", "--loglevel=error"]))
    fail("`npm ci` failed; see its message above");
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
