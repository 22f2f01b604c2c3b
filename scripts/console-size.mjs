// How much a browser loads before the console is usable: the page, and what it names itself. Bounded.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";

const bytesMax = 100_000;
const dist = "packages/console/dist";

const page = readFileSync(join(dist, "index.html"), "utf8");
const named = [...page.matchAll(/(?:src|href)="\/(assets\/[^"]+)"/g)].map(([, path]) => path);
const files = ["index.html", ...named].map((path) => ({
  path,
  bytes: gzipSync(readFileSync(join(dist, path))).byteLength,
}));
for (const { path, bytes } of files) process.stdout.write(`${String(bytes).padStart(8)}  ${path}\n`);
const sum = files.reduce((total, { bytes }) => total + bytes, 0);
process.stdout.write(`${String(sum).padStart(8)}  gzip, of at most ${bytesMax}\n`);
if (sum > bytesMax || named.length < 2) process.exitCode = 1;
