// The image of deploy/image, built and run on this machine without an engine: buildah in a chroot, over a Debian of
// mmdebstrap and the Node of npm, and then a namespace of processes whose root cannot be written.
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import {
  chownSync,
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";

const root = dirname(dirname(dirname(import.meta.dirname)));
const debian = "bookworm";
const name = "localhost/mcpx-image-test";

export interface Image {
  readonly settings: ImageSettings;
  /** A process of the image with the number 1, in namespaces of its own, root read-only, data in `data`. */
  run(data: string, command: readonly string[]): ChildProcess;
  remove(): void;
}

/** As the image says. */
interface ImageSettings {
  readonly User: string;
  readonly Env: readonly string[];
  readonly Entrypoint: readonly string[];
  readonly Cmd: readonly string[];
  readonly StopSignal: string;
  readonly WorkingDir: string;
  readonly ExposedPorts: Readonly<Record<string, unknown>>;
}

/** `release` has the tarball; all else goes to `scratch`. */
export function buildImage(release: string, scratch: string): Image {
  const buildah = buildahIn(join(scratch, "storage"));
  const context = join(scratch, "context");
  mkdirSync(join(context, "deploy"), { recursive: true });
  cpSync(release, join(context, "release"), { recursive: true });
  cpSync(join(root, "deploy", "image"), join(context, "deploy", "image"), { recursive: true });
  const base = makeBase(buildah, scratch);
  const file = join(context, "deploy", "image", "Dockerfile");
  const isolation = ["--isolation", "chroot", "--format", "docker"];
  buildah("build", ...isolation, "--build-arg", `BASE=${base}`, "-f", file, "-t", name, context);
  const { Docker } = JSON.parse(buildah("inspect", "--type", "image", name)) as {
    Docker: { config: ImageSettings };
  };
  const container = buildah("from", "--pull-never", name).trim();
  const files = buildah("mount", container).trim();
  return {
    settings: Docker.config,
    run: (data, command) => runIn(files, Docker.config, data, command),
    remove() {
      buildah("umount", container);
      rmSync(scratch, { recursive: true, force: true });
    },
  };
}

type Buildah = (...args: readonly string[]) => string;

function buildahIn(storage: string): Buildah {
  const where = [
    "--storage-driver",
    "vfs",
    "--root",
    join(storage, "root"),
    "--runroot",
    join(storage, "run"),
  ];
  return (...args) =>
    execFileSync("buildah", [...where, ...args], { encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
}

/** What stands for the official image of Node: a small Debian, and Node and npm where that has them. */
function makeBase(buildah: Buildah, scratch: string): string {
  const system = join(scratch, "debian.tar");
  const sources = "/etc/apt/sources.list.d/debian.sources";
  const wanted = ["--variant=minbase", "--include=ca-certificates,libstdc++6,passwd"];
  execFileSync("mmdebstrap", [...wanted, debian, system, ...(existsSync(sources) ? [sources] : [])], {
    stdio: "pipe",
  });
  const container = buildah("from", "scratch").trim();
  buildah("add", "--quiet", container, system, "/");
  const files = buildah("mount", container).trim();
  cpSync(process.execPath, join(files, "usr/local/bin/node"), { dereference: true });
  const npm = realpathSync(execFileSync("sh", ["-c", "command -v npm"], { encoding: "utf8" }).trim());
  cpSync(dirname(dirname(npm)), join(files, "usr/local/lib/node_modules/npm"), {
    recursive: true,
    dereference: true,
  });
  writeFileSync(
    join(files, "usr/local/bin/npm"),
    '#!/bin/sh\nexec node /usr/local/lib/node_modules/npm/bin/npm-cli.js "$@"\n',
    { mode: 0o755 },
  );
  bringRegistry(buildah, container, files);
  buildah("umount", container);
  buildah("commit", "--quiet", container, `${name}-base`);
  return `${name}-base`;
}

/** How this machine reaches the registry of packages. */
function bringRegistry(buildah: Buildah, container: string, files: string): void {
  const registry = execFileSync("npm", ["config", "get", "registry"], { encoding: "utf8" }).trim();
  const env = [`npm_config_registry=${registry}`];
  const authority = process.env.NODE_EXTRA_CA_CERTS;
  if (authority !== undefined) {
    writeFileSync(join(files, "etc/ssl/extra.pem"), readFileSync(authority));
    env.push("NODE_EXTRA_CA_CERTS=/etc/ssl/extra.pem");
  }
  buildah("config", ...env.flatMap((one) => ["--env", one]), container);
}

/** As an engine would with `--read-only --tmpfs /tmp -v data:/data --cap-drop ALL --security-opt no-new-privileges`. */
function runIn(
  files: string,
  settings: ImageSettings,
  data: string,
  command: readonly string[],
): ChildProcess {
  const [user = "", group = ""] = settings.User.split(":");
  chownSync(data, Number(user), Number(group));
  const steps = [
    `mount --bind '${files}' '${files}'`,
    `mount -o remount,bind,ro '${files}'`,
    `mount -t tmpfs -o mode=1777 tmpfs '${files}/tmp'`,
    `mount --bind '${data}' '${files}/data'`,
    `mount -t proc proc '${files}/proc'`,
    `mount --rbind /dev '${files}/dev'`,
    // Of the namespace, the process with the number 1: `exec` all the way.
    `exec chroot '${files}' setpriv --reuid=${user} --regid=${group} --clear-groups --no-new-privs ` +
      `--bounding-set=-all --inh-caps=-all env -i --chdir='${settings.WorkingDir}' "$@"`,
  ];
  const words = ["sh", ...settings.Env, ...command];
  return spawn("unshare", ["--mount", "--pid", "--fork", "sh", "-euc", steps.join("\n"), ...words], {
    stdio: ["ignore", "pipe", "pipe"],
  });
}
