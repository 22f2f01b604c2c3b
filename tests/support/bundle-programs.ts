// node tests/support/bundle-programs.ts DIRECTORY: puts each program the tests start together with all it imports, from
// the sources as they are now. Loading hundreds of modules is most of what such a process costs. What a module looks for
// beside itself it still finds beside its source. The directory has to be where the packages are found.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { basename, dirname, join, relative, resolve } from "node:path";
import { createInterface } from "node:readline";
import { text } from "node:stream/consumers";
import { pathToFileURL } from "node:url";
import { type Plugin, rolldown } from "rolldown";
import { bundledPrograms, entryName, programArgs } from "./programs.ts";

const root = join(import.meta.dirname, "..", "..");
const directory = resolve(process.argv[2] ?? "");
const compiled = join(directory, "compiled");
const conditionNames = ["mcpx-source", "node", "import", "module", "default"];
/** They start programs beside them, which are bundled too. */
const starters = ["packages/aggregator/src/links/lifeline.ts", "packages/gateway/src/topic-log/thread.ts"];
/** With parts in machine language, only there for those who install them, or made of classes that lose their order. */
const external = ["serialport", "mqtt", "pg", /^@simplewebauthn\/server/];

function places(): Plugin {
  const placeOf = (id: string) =>
    starters.includes(relative(root, id)) ? join(directory, relative(root, id)).replace(/ts$/, "js") : id;
  return {
    name: "places",
    transform: {
      filter: { code: "import.meta." },
      handler: (code, id) =>
        code
          .replaceAll(/\bimport\.meta\.url\b/g, JSON.stringify(pathToFileURL(placeOf(id)).href))
          .replaceAll(/\bimport\.meta\.dirname\b/g, JSON.stringify(dirname(placeOf(id)))),
    },
  };
}

async function bundle(): Promise<void> {
  const input = Object.fromEntries(bundledPrograms.map((source) => [entryName(source), join(root, source)]));
  const build = await rolldown({
    input,
    external,
    platform: "node",
    resolve: { conditionNames, mainFields: ["module", "main"] },
    plugins: [places()],
    logLevel: "silent",
  });
  await build.write({ dir: directory, entryFileNames: "[name].program.js" });
  await build.close();
  for (const source of bundledPrograms) writeStart(entryName(source));
  writeFileSync(join(directory, "package.json"), '{"type": "module"}');
}

/** Servers of a tree are not given our environment: they hear here where compiled code is kept. */
function writeStart(name: string): void {
  const cache = JSON.stringify(compiled);
  const program = JSON.stringify(`./${basename(name)}.program.js`);
  writeFileSync(
    join(directory, `${name}.js`),
    `import { enableCompileCache } from "node:module";\nenableCompileCache(${cache});\nawait import(${program});\n`,
  );
}

/** A gateway that ends as it should leaves behind what it has compiled; most in the tests do not end so. */
async function compile(): Promise<void> {
  const env = { ...process.env, NODE_COMPILE_CACHE: compiled };
  const options = ["--port", "0", "--json", "--no-demo", "--data", join(directory, "data")];
  const args = [...programArgs("packages/cli/src/main.ts", directory), "up", ...options];
  const gateway = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "pipe"], cwd: directory, env });
  const said = text(gateway.stderr);
  const ended = once(gateway, "exit");
  createInterface({ input: gateway.stdout }).on("line", (line) => line.startsWith("{") && gateway.kill());
  const [code] = await ended;
  if (code !== 0) throw new Error(`mcpx up, put together for the tests, ended with ${code}:\n${await said}`);
}

if (process.argv[2] === undefined) throw new Error("usage: node tests/support/bundle-programs.ts DIRECTORY");
await bundle();
await compile();
