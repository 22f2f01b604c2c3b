// The health check of the image: does the gateway of this container answer? It exits with 0 where it does.
import { readFileSync } from "node:fs";
import { get as getPlain } from "node:http";
import { get as getSealed } from "node:https";

const { url } = JSON.parse(readFileSync(`${process.env.MCPX_DATA}/gateway.json`, "utf8"));
const health = new URL("/healthz", url);
const get = health.protocol === "https:" ? getSealed : getPlain;
// Its certificate is for those outside; nothing secret is said here.
const request = get(health, { rejectUnauthorized: false, timeout: 3_000 }, (answer) => {
  answer.resume();
  process.exitCode = answer.statusCode === 200 ? 0 : 1;
});
request.on("timeout", () => request.destroy(new Error("no answer within 3 s")));
request.on("error", (error) => {
  process.stderr.write(`mcpx: ${health} does not answer: ${error.message}\n`);
  process.exitCode = 1;
});
