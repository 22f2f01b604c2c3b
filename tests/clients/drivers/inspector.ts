// The inspector's command line: a process for each request.
import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { type Driver, toldOf } from "../support/driver.ts";

const program = join(import.meta.dirname, "..", "..", "..", "node_modules", ".bin", "mcp-inspector");
const run = promisify(execFile);

export const inspector: Driver = {
  client: "MCP Inspector, command line",
  package: "@modelcontextprotocol/inspector",
  async connect({ url, token, home }) {
    const ask = async (...words: string[]) => {
      const all = ["--cli", url, "--header", `Authorization: Bearer ${token}`, ...words, "--format", "json"];
      return (await run(program, all, { env: { ...process.env, HOME: home } })).stdout;
    };
    let names: string[] | undefined;
    return {
      async tools() {
        if (names !== undefined) return names;
        const { tools } = JSON.parse(await ask("--method", "tools/list")).result;
        names = tools.map(({ name }: { name: string }) => name);
        return names ?? [];
      },
      call: (name, args) =>
        toldOf(async () => {
          const given = Object.entries(args).flatMap(([key, value]) => ["--tool-arg", `${key}=${value}`]);
          const asked = ask("--method", "tools/call", "--tool-name", name, ...given);
          // It fails where the tool does, and has told what that said.
          const text = await asked.catch((error: { stdout?: string }) => {
            if (!error.stdout) throw error;
            return error.stdout;
          });
          return { text, isError: JSON.parse(text).result?.isError === true };
        }),
      close: async () => {},
    };
  },
};
