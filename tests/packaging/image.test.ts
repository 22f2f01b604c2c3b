// The image as it is shipped: built from the tarball, run with a root that cannot be written, looked at by its own
// health check, ended by its signal. And what else stands in deploy/, as far as it can be judged without an engine. Only
// for `npm run soak`: it makes a small Debian.
import { execFileSync, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { afterAll, beforeAll, expect, test } from "vitest";
import { buildImage, type Image } from "./support/image.ts";

const root = dirname(dirname(import.meta.dirname));
const scratch = mkdtempSync(join(tmpdir(), "mcpx-image-"));
const data = join(scratch, "data");

let image: Image;

beforeAll(() => {
  const release = join(scratch, "release");
  execFileSync(process.execPath, ["scripts/release.ts", "--dry", "--out", release], {
    cwd: root,
    stdio: "pipe",
  });
  mkdirSync(data);
  image = buildImage(release, join(scratch, "image"));
}, 900_000);

afterAll(() => {
  image?.remove();
  rmSync(scratch, { recursive: true, force: true });
}, 120_000);

test("the image is no root, says its port and its signal", () => {
  expect(image.settings).toMatchObject({
    User: "10001:10001",
    Entrypoint: ["mcpx"],
    StopSignal: "SIGTERM",
    ExposedPorts: { "6279/tcp": {} },
    Volumes: { "/data": {} },
    Healthcheck: { Test: ["CMD", "node", "/etc/mcpx/healthy.mjs"] },
  });
});

test("[B-SHIP-1] it runs as process 1 without a right, writes to its volume alone, is healthy, and ends with 0", {
  timeout: 180_000,
}, async () => {
  const health = () => {
    const child = image.run(data, ["node", "/etc/mcpx/healthy.mjs"]);
    return once(child, "exit").then(([code]) => code as number);
  };
  expect(await health()).toBe(1);
  // A free port: the machine may have a gateway already.
  const { Entrypoint, Cmd } = image.settings;
  const gateway = image.run(data, [...Entrypoint, ...Cmd, "--port", "0"]);
  const said: string[] = [];
  const ready = new Promise<void>((resolve, reject) => {
    for (const stream of [gateway.stdout, gateway.stderr]) {
      createInterface({ input: stream as NodeJS.ReadableStream }).on("line", (line) => {
        said.push(line);
        if (line.includes("Ctrl-C stops the gateway")) resolve();
      });
    }
    gateway.once("exit", () => reject(new Error(said.join("\n"))));
  });
  await ready;
  const { url } = JSON.parse(readFileSync(join(data, "gateway.json"), "utf8")) as { url: string };
  expect((await fetch(`${url}/readyz`)).status).toBe(200);
  expect(await health()).toBe(0);
  const pid = onlyChildOf(gateway.pid as number);
  const status = readFileSync(`/proc/${pid}/status`, "utf8");
  expect(status).toMatch(/^NSpid:\t\d+\t1$/m);
  expect(status).toMatch(/^Uid:\t10001\t10001\t10001\t10001$/m);
  expect(status).toMatch(/^CapBnd:\t0+$/m);
  expect(status).toMatch(/^NoNewPrivs:\t1$/m);
  process.kill(pid, "SIGTERM");
  expect((await once(gateway, "exit"))[0]).toBe(0);
  expect(await health()).toBe(1);
});

test("its root cannot be written", async () => {
  const words = ["sh", "-c", "touch /etc/mcpx/x; touch /opt/mcpx/x; touch /data/x && touch /tmp/x"];
  const child = image.run(data, words);
  const said: string[] = [];
  child.stderr?.on("data", (text) => said.push(String(text)));
  expect((await once(child, "close"))[0]).toBe(0);
  expect(said.join("").match(/Read-only file system/g)).toHaveLength(2);
});

/** The process that `unshare` waits for. */
function onlyChildOf(pid: number): number {
  return Number(readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim());
}

/** Parsers and types that nothing else needs, from npm. */
function installed(): { parse(text: string): unknown[]; folder: string } {
  const folder = join(scratch, "schemas");
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "package.json"), "{}");
  const quiet = ["--no-audit", "--no-fund", "--loglevel=error"];
  execFileSync("npm", ["install", ...quiet, "yaml@2.8.1", "kubernetes-types@1.30.0"], { cwd: folder });
  const yaml = createRequire(join(folder, "package.json"))("yaml") as {
    parseAllDocuments(text: string): { toJS(): unknown; errors: unknown[] }[];
  };
  const parse = (text: string) =>
    yaml.parseAllDocuments(text).map((document) => {
      expect(document.errors).toEqual([]);
      return document.toJS();
    });
  return { parse, folder };
}

interface Manifest {
  apiVersion: string;
  kind: string;
}

/** What the types of Kubernetes say of these; nothing where all of it fits. */
function judged(manifests: readonly Manifest[], folder: string): string {
  const lines = manifests.map(({ apiVersion, kind }, index) => {
    const module = `kubernetes-types/${apiVersion.replace(/\.k8s\.io\b/, "").replace(/^v1$/, "core/v1")}`;
    return `import type { ${kind} as T${index} } from "${module}";\nexport const o${index}: T${index} = ${JSON.stringify(manifests[index])};\n`;
  });
  writeFileSync(join(folder, "judge.ts"), lines.join(""));
  const tsc = join(root, "node_modules", ".bin", "tsc");
  const options = ["--noEmit", "--strict", "--module", "nodenext", "--target", "es2024", "--types", "none"];
  return spawnSync(tsc, [...options.slice(0, -2), "judge.ts"], { cwd: folder, encoding: "utf8" }).stdout;
}

test("the Kubernetes manifests fit the types of Kubernetes, and no field is one it does not know", {
  timeout: 120_000,
}, () => {
  const { parse, folder } = installed();
  const manifests = parse(readFileSync(join(root, "deploy/kubernetes/mcpx.yaml"), "utf8")) as Manifest[];
  expect(manifests.map(({ kind }) => kind)).toEqual([
    ...["ConfigMap", "Service", "StatefulSet", "PodDisruptionBudget", "NetworkPolicy"],
  ]);
  expect(judged(manifests, folder)).toBe("");
  const [config, ...others] = manifests;
  expect(judged([{ ...config, datas: {} } as unknown as Manifest, ...others], folder)).toContain("datas");
  const { services } = parse(readFileSync(join(root, "deploy/compose/compose.yaml"), "utf8"))[0] as {
    services: { mcpx: object };
  };
  expect(services.mcpx).toMatchObject({
    ...{ init: true, read_only: true, cap_drop: ["ALL"], security_opt: ["no-new-privileges:true"] },
    ports: ["127.0.0.1:6279:6279"],
  });
});
