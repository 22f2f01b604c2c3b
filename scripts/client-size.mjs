// Prints how many bytes a browser loads for `@mcpx/client`: bundled, minified, gzipped. The goal is 15 KB.
import { gzipSync } from "node:zlib";
import { rolldown } from "rolldown";

const bundle = await rolldown({
  input: "packages/client/src/index.ts",
  platform: "browser",
  resolve: { conditionNames: ["mcpx-source", "browser", "import", "default"] },
});
const { output } = await bundle.generate({ format: "esm", minify: true });
await bundle.close();
const bytes = output.map((chunk) => (chunk.type === "chunk" ? chunk.code : "")).join("");
const foreign = output.flatMap((chunk) => (chunk.type === "chunk" ? chunk.imports : []));
if (foreign.length > 0) throw new Error(`not in the bundle: ${foreign.join(", ")}`);
const result = { minified: Buffer.byteLength(bytes), gzip: gzipSync(bytes, { level: 9 }).length };
process.stdout.write(`${JSON.stringify(result)}\n`);
