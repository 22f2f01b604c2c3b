// How much a browser loads before each page is usable: the page, and what it names itself. Bounded.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";

const dist = "packages/console/dist";
// The page of an approval has the framework, the error table and the exact reader of JSON in it: and the whole card of the console: half of it.
const bytesMax = { "index.html": 100_000, "approve.html": 58_000, "authorize.html": 45_000 };

for (const [page, max] of Object.entries(bytesMax)) {
  const text = readFileSync(join(dist, page), "utf8");
  const named = [...text.matchAll(/(?:src|href)="\/(assets\/[^"]+)"/g)].map(([, path]) => path);
  const files = [page, ...named].map((path) => ({
    path,
    bytes: gzipSync(readFileSync(join(dist, path))).byteLength,
  }));
  for (const { path, bytes } of files) process.stdout.write(`${String(bytes).padStart(8)}  ${path}\n`);
  const sum = files.reduce((total, { bytes }) => total + bytes, 0);
  process.stdout.write(`${String(sum).padStart(8)}  gzip, of at most ${max}\n`);
  if (sum > max || named.length < 2) process.exitCode = 1;
}
