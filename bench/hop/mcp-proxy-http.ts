// mcp-proxy has a command only for servers over stdio. This is that command's own wiring, written with the package's
// exports, for a server over HTTP. `mcp-proxy-http.ts PACKAGES PORT URL`, PACKAGES being where mcp-proxy is installed.
import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const [packages = "", port = "", url = ""] = process.argv.slice(2);
// The packages it was installed with, not ours.
const { resolve } = createRequire(join(packages, "mcp-proxy", "package.json"));
const load = (name: string) => import(pathToFileURL(resolve(name)).href);

const { proxyServer, startHTTPServer } = await import(
  pathToFileURL(join(packages, "mcp-proxy", "dist", "index.mjs")).href
);
const { Client, StreamableHTTPClientTransport } = await load("@modelcontextprotocol/client");
const { Server } = await load("@modelcontextprotocol/server");

const client = new Client({ name: "mcp-proxy", version: "1.0.0" }, { capabilities: {} });
await client.connect(new StreamableHTTPClientTransport(new URL(url)));
const serverCapabilities = client.getServerCapabilities();
await startHTTPServer({
  createServer: async () => {
    const server = new Server(client.getServerVersion(), { capabilities: serverCapabilities });
    await proxyServer({ client, server, serverCapabilities });
    return server;
  },
  host: "127.0.0.1",
  port: Number(port),
});
