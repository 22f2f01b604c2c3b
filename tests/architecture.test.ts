// The walls of ARCHITECTURE.md.
import { globSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";

const root = dirname(import.meta.dirname);

const mayImport: Record<string, readonly string[]> = {
  protocol: [],
  host: ["protocol"],
  client: ["protocol"],
  gateway: ["protocol", "host"],
  aggregator: ["protocol", "host", "client", "client/subserver"],
  devices: ["protocol", "client/subserver"],
  bridges: ["protocol", "client"],
  console: ["protocol", "client", "client/signing"],
  conform: [],
  cli: [
    "protocol",
    "host",
    "client",
    "client/signing",
    "client/node",
    "client/subserver",
    "client/adapters",
    "gateway",
    "aggregator",
    "devices",
    "bridges",
    "conform",
  ],
  mcpx: ["cli"],
};

interface Import {
  file: string;
  from: string;
}

function importsOf(pattern: string): Import[] {
  const files = globSync(pattern, { cwd: root }).filter((file) => !/(\.test|-cases)\.ts$/.test(file));
  return files.flatMap((file) => {
    const text = readFileSync(join(root, file), "utf8");
    return [...text.matchAll(/(?:from|import) "([^"]+)"/g)].map((match) => ({
      file,
      from: match[1] as string,
    }));
  });
}

for (const [name, allowed] of Object.entries(mayImport)) {
  test(`${name} imports no package but ${allowed.join(", ") || "none"}`, () => {
    const imports = importsOf(`packages/${name}/src/**/*.ts`);
    expect(imports.length).toBeGreaterThan(0);
    const foreign = imports.filter(
      ({ from }) => from.startsWith("@mcpx/") && !allowed.includes(from.slice("@mcpx/".length)),
    );
    expect(foreign).toEqual([]);
    // Only through the front endpoint.
    expect(
      imports.filter(({ from }) =>
        /packages\/|\.\.\/\.\.\/(protocol|host|client|gateway|aggregator|cli)\//.test(from),
      ),
    ).toEqual([]);
  });
}

test("protocol is pure: nothing of Node, no clock, no chance", () => {
  expect(importsOf("packages/protocol/src/**/*.ts").filter(({ from }) => from.startsWith("node:"))).toEqual(
    [],
  );
  for (const file of globSync("packages/protocol/src/**/*.ts", { cwd: root }).filter(
    (path) => !path.endsWith(".test.ts"),
  )) {
    expect(readFileSync(join(root, file), "utf8"), file).not.toMatch(
      /Date\.now|Math\.random|setTimeout|process\.[a-z]/,
    );
  }
});

test("the client runs in browsers: nothing of Node, save for what is for Node alone", () => {
  const all = importsOf("packages/client/src/**/*.ts");
  expect(
    all.filter(({ from }) => /\/node\//.test(from)),
    "nothing else imports it",
  ).toEqual([]);
  const imports = all.filter(({ file }) => !file.includes("client/src/node/"));
  expect(imports.filter(({ from }) => from.startsWith("node:"))).toEqual([]);
  expect(imports.filter(({ from }) => !from.startsWith(".") && from !== "@mcpx/protocol")).toEqual([]);
});

test("handlers import neither each other nor a transport", () => {
  const imports = importsOf("packages/gateway/src/handlers/*.ts");
  expect(imports.filter(({ from }) => from.startsWith("./") || from.includes("transports/"))).toEqual([]);
});

test("only the command line reads the environment", () => {
  for (const file of globSync("packages/{protocol,host,gateway,aggregator,bridges}/src/**/*.ts", {
    cwd: root,
  }).filter((path) => !path.endsWith(".test.ts"))) {
    expect(readFileSync(join(root, file), "utf8"), file).not.toContain("process.env");
  }
});

/** In whole, from a package's name on, or by the last parts of its path; folders end in a slash. */
function isThere(named: string): boolean {
  return ["", "packages/", "packages/*/src/**/"].some(
    (before) => globSync(before + named, { cwd: root }).length > 0,
  );
}

test("ARCHITECTURE.md names only files and folders that are there", () => {
  const text = readFileSync(join(root, "ARCHITECTURE.md"), "utf8");
  const written = text.matchAll(/`([a-z][\w./-]*(?:\.ts|\.md|\/))`|`((?:packages|[a-z]+\/src)\/[a-z/-]+)`/g);
  const linked = text.matchAll(/\]\(([^)#:]+)\)/g);
  const named = [...written, ...linked].map(([, file, folder]) => file ?? folder ?? "");
  expect(named.length).toBeGreaterThan(80);
  expect(named.filter((one) => !isThere(one))).toEqual([]);
  expect(isThere("gateway/src/nowhere.ts") || isThere("nowhere.ts") || isThere("nowhere/")).toBe(false);
  expect(text.split(/\s+/).length, "two pages").toBeLessThan(1_000);
});
