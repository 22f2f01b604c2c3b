// What stands in deploy/, read as it is: whether it fits the code. Built and run it is by `npm run soak -- packaging/image`.
import { existsSync, globSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { defaultLimits } from "@mcpx/protocol";
import { expect, test } from "vitest";
import { loadConfig } from "../../packages/cli/src/config/config.ts";

const root = dirname(dirname(import.meta.dirname));
const read = (path: string) => readFileSync(join(root, path), "utf8");

/** What of the rules for images a Dockerfile breaks. */
function faultsIn(dockerfile: string): string[] {
  const lines = dockerfile.split("\n").filter((line) => /^[A-Z]+ /.test(line));
  const last = (word: string) => lines.findLast((line) => line.startsWith(`${word} `)) ?? "";
  const copied = lines.flatMap((line) => /^COPY (?!--from)(.+) \S+$/.exec(line)?.[1]?.split(" ") ?? []);
  const lost = copied.filter((path) => !path.startsWith("release/") && !existsSync(join(root, path)));
  return [
    ...(/^USER [1-9]\d*:[1-9]\d*$/.test(last("USER")) ? [] : ["it runs as root, or as a name"]),
    ...(last("HEALTHCHECK").includes('["node",') ? [] : ["it has no health check"]),
    ...(last("ENTRYPOINT").includes('["mcpx"]') ? [] : ["a shell stands before mcpx and gets its signals"]),
    ...(last("STOPSIGNAL") === "STOPSIGNAL SIGTERM" ? [] : ["its signal is not SIGTERM"]),
    ...(/^ARG BASE=\S+node:24-\S+-slim$/m.test(dockerfile) ? [] : ["it is not made on a slim Node 24"]),
    ...(/^ADD |:latest/m.test(dockerfile) ? ["it takes what nobody has named"] : []),
    ...lost.map((path) => `it copies ${path}, which is not there`),
  ];
}

test("the Dockerfile: not root, a health check, signals that arrive, files that are there", () => {
  const dockerfile = read("deploy/image/Dockerfile");
  expect(faultsIn(dockerfile)).toEqual([]);
  const broken = dockerfile
    .replace("USER 10001:10001", "USER mcpx")
    .replace('ENTRYPOINT ["mcpx"]', "ENTRYPOINT mcpx")
    .replace("deploy/image/healthy.mjs", "deploy/image/unhealthy.mjs");
  expect(faultsIn(broken)).toHaveLength(3);
});

test("the configuration in the image is one", () => {
  const given = join(root, "deploy/image/mcpx.json");
  expect(loadConfig({ given, cwd: root, dataDir: root }).config.listen).toMatchObject({ host: "0.0.0.0" });
});

test("compose and Kubernetes name the port there is, and wait longer for the end than the gateway takes", () => {
  const [compose, cluster] = [read("deploy/compose/compose.yaml"), read("deploy/kubernetes/mcpx.yaml")];
  expect(compose).toContain('["127.0.0.1:6279:6279"]');
  expect(cluster).toContain("containerPort: 6279");
  const grace = [
    /stop_grace_period: (\d+)s/.exec(compose)?.[1],
    /terminationGracePeriodSeconds: (\d+)/.exec(cluster)?.[1],
  ];
  for (const seconds of grace) expect(Number(seconds) * 1_000).toBeGreaterThan(defaultLimits.drainMs + 4_000);
  for (const file of globSync("deploy/{compose,kubernetes}/*.yaml", { cwd: root }))
    expect(read(file).includes("\t"), file).toBe(false);
});
