// `mcpx register URL SEGMENT -- CMD…`: any MCP server becomes part of a tree elsewhere. How is in `run-register.ts`.
import { authScopes } from "@mcpx/protocol";
import { type Context, defineCommand, gatewayOptions } from "../../framework/command.ts";

const { url: _, ...otherGatewayOptions } = gatewayOptions;

const options = {
  server: { type: "string", value: "URL", about: "a server that speaks HTTP, instead of a command" },
  scope: {
    type: "string",
    values: authScopes,
    value: "SCOPE",
    about: "scope of the token that is made here: read, write or admin (default: write)",
  },
  authority: { type: "string", value: "NAME", about: "the DNS name it stands for" },
  backup: {
    type: "string",
    multiple: true,
    value: "URL",
    about: "address of another tree, used while the first is unreachable",
  },
  heartbeat: { type: "string", value: "TIME", about: "interval of heartbeats (default: 5s)" },
  ca: { type: "string", values: "file", value: "FILE", about: "certificate authority of the tree (PEM)" },
  cert: { type: "string", values: "file", value: "FILE", about: "client certificate (PEM), with --cert-key" },
  "cert-key": { type: "string", values: "file", value: "FILE", about: "its private key (PEM)" },
  insecure: { type: "boolean", about: "allow plain text to another machine" },
  ...otherGatewayOptions,
} as const;

export type RegisterContext = Context<typeof options>;

export const register = defineCommand({
  usage: "URL SEGMENT -- CMD… | URL SEGMENT --server URL",
  words: { min: 2, max: Number.POSITIVE_INFINITY, values: [[], [], ["command"], ["file"]] },
  options,
  examples: [
    ["mcpx register http://127.0.0.1:6279 files -- npx -y my-files-server .", "in the tree of this machine"],
    ["mcpx register wss://tree.example.com oven --token $TOKEN -- node oven.js", "elsewhere"],
    ["mcpx token --segment oven --scope write --ttl 30d", "makes that token, there"],
  ],
  run: async (context) => (await import("../../server/run-register.ts")).runRegister(context),
});
