// Makes a fresh machine ready: installs the npm packages when they are missing or older than the lock file, builds the
// web console when its sources are newer, and, with --tests, installs the system packages the tests use. Plain JavaScript: it runs on whatever Node is there.
import { spawnSync } from "node:child_process";
import { existsSync, readdirSync, statSync, utimesSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const installed = join(root, "node_modules", ".package-lock.json");
const wanted = join(root, "package-lock.json");

/** Debian packages and the file whose presence shows that each is there. */
const systemPackages = [
  { name: "python3-websockets", shows: "/usr/lib/python3/dist-packages/websockets" },
  { name: "python3-cryptography", shows: "/usr/lib/python3/dist-packages/cryptography" },
  { name: "openssh-client", shows: "/usr/bin/ssh-agent" },
  { name: "strace", shows: "/usr/bin/strace" },
  { name: "zsh", shows: "/usr/bin/zsh" },
  { name: "fish", shows: "/usr/bin/fish" },
  { name: "chromium", shows: "/usr/bin/chromium" },
  { name: "gcc", shows: "/usr/bin/gcc" },
  { name: "gcc-arm-none-eabi", shows: "/usr/bin/arm-none-eabi-gcc" },
  { name: "qemu-system-arm", shows: "/usr/bin/qemu-system-arm" },
  { name: "gcc-avr", shows: "/usr/bin/avr-gcc" },
  { name: "avr-libc", shows: "/usr/lib/avr/include/avr/io.h" },
  { name: "libsimavr-dev", shows: "/usr/include/simavr/sim_avr.h" },
  { name: "libelf-dev", shows: "/usr/include/libelf.h" },
  { name: "sdcc", shows: "/usr/bin/sdcc" },
  { name: "sdcc-ucsim", shows: "/usr/bin/s51" },
  { name: "mosquitto", shows: "/usr/sbin/mosquitto" },
  { name: "prosody", shows: "/usr/bin/prosody" },
  { name: "postgresql", shows: "/usr/lib/postgresql" },
  { name: "bluez-test-tools", shows: "/usr/bin/btvirt" },
];
/** Only for `npm run soak`. */
const soakPackages = [{ name: "ejabberd", shows: "/usr/sbin/ejabberdctl" }];

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

/** When anything the console is made of was changed last. */
function consoleChangedMs() {
  const parts = ["index.html", "approve.html", "vite.config.ts", "src", "../client/src", "../protocol/src"];
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
  process.stderr.write("mcpx: building the web console…\n");
  if (!run("npm", ["run", "--silent", "console", "--", "--logLevel=error"])) {
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
