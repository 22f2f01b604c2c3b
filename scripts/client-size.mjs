// Prints how many bytes a browser loads for `@mcpx/client`, bundled, minified, gzipped: at first, and when it serves
// an MCP server of its own. The goal is 15 000 at first.
import { gzipSync } from "node:zlib";
import { rolldown } from "rolldown";

const bundle = await rolldown({
  input: "packages/client/src/index.ts",
  platform: "browser",
  // As an application is bundled: what both chunks need stays in the first.
  preserveEntrySignatures: "allow-extension",
  resolve: { conditionNames: ["mcpx-source", "browser", "import", "default"] },
});
const { output } = await bundle.generate({ format: "esm", minify: true });
await bundle.close();
const [first, ...later] = output;
const foreign = output.flatMap(({ imports = [] }) => imports).filter((name) => !name.endsWith(".js"));
if (foreign.length > 0) throw new Error(`not in the bundle: ${foreign.join(", ")}`);
const gzip = (chunks) => chunks.reduce((sum, { code }) => sum + gzipSync(code, { level: 9 }).length, 0);
const shared = later.filter(({ fileName }) => first.imports.includes(fileName));
const lazy = later.filter((chunk) => !shared.includes(chunk));
process.stdout.write(`${JSON.stringify({ gzip: gzip([first, ...shared]), gzipWhenServing: gzip(lazy) })}\n`);
