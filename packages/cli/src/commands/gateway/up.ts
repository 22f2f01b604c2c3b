// `mcpx up`: its words. What it does is in `run-gateway.ts`, loaded only then: it brings the whole server with it,
// which the other commands should not wait for.
import { type Context, dataOption, defineCommand } from "../../framework/command.ts";

const options = {
  port: { type: "string", value: "N", about: "port to listen on, 0 for any free one (default: 6279)" },
  host: { type: "string", value: "H", about: "address to listen on (default: 127.0.0.1)" },
  ...dataOption,
  config: {
    type: "string",
    values: "file",
    value: "FILE",
    about: "configuration (default: ./mcpx.json once accepted, else in the data directory)",
  },
  open: { type: "boolean", about: "open the web console in the browser" },
  "no-demo": { type: "boolean", about: "without the demo, which runs while nothing is configured" },
} as const;

export type UpContext = Context<typeof options>;

export const up = defineCommand({
  usage: "[--port N] [--host H] [--data DIR] [--config FILE] [--open] [--no-demo]",
  words: { min: 0, max: 0 },
  options,
  examples: [
    ["mcpx up", "on 127.0.0.1:6279, data in ~/.local/share/mcpx"],
    ["mcpx up --port 0 --json", "any free port; prints {url, dataDir, pid, console} when ready"],
    ["mcpx up --data ./room-data --config mcpx.json", "with data and configuration of its own"],
  ],
  async run(context) {
    const { runGateway } = await import("../../server/run-gateway.ts");
    return runGateway(context);
  },
});
