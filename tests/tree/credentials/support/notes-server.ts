// A real MCP server of either era that wants a token, and is another one for each account: other notes, another list.
import { randomUUID } from "node:crypto";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import {
  createMcpHandler,
  McpServer,
  WebStandardStreamableHTTPServerTransport,
} from "@modelcontextprotocol/server";
import { sendWebResponse, toWebRequest } from "../../../conformance/fixture/web-bridge.ts";
import type { AuthorizationServer } from "./authorization-server.ts";

type Serve = (request: Request) => Promise<Response>;

export interface NotesServer {
  readonly url: string;
  /** Whose token came with which method, oldest first; without one the account is empty. */
  readonly seen: { account: string; token: string; method: string }[];
  /** Requests that came with another account's session. */
  readonly mixedUp: string[];
  /** Which accounts have sessions (legacy). */
  readonly sessions: Map<string, string>;
  /** A scope without which calls are refused. */
  needs: string;
  stop(): Promise<void>;
}

const description = "/.well-known/oauth-protected-resource/mcp";

export async function startNotesServer(
  issuer: AuthorizationServer,
  era: "legacy" | "modern",
): Promise<NotesServer> {
  const byAccount = new Map<string, Serve>();
  const http = createServer(async (incoming, outgoing) => {
    const request = toWebRequest(incoming, outgoing);
    await sendWebResponse(await answer(request), outgoing);
  });
  await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve));
  const origin = `http://127.0.0.1:${(http.address() as AddressInfo).port}`;
  const self: NotesServer = {
    url: `${origin}/mcp`,
    seen: [],
    mixedUp: [],
    sessions: new Map(),
    needs: "",
    async stop() {
      http.closeAllConnections();
      await new Promise((resolve) => http.close(resolve));
    },
  };
  return self;

  async function answer(request: Request): Promise<Response> {
    const { pathname } = new URL(request.url);
    if (pathname === description)
      return Response.json({ resource: self.url, authorization_servers: [issuer.issuer] });
    if (pathname !== "/mcp") return new Response(null, { status: 404 });
    const body = request.method === "POST" ? await request.text() : "";
    const method = body === "" ? request.method : String(JSON.parse(body).method);
    const token = request.headers.get("authorization")?.replace(/^Bearer /, "") ?? "";
    const account = issuer.accounts.get(token);
    self.seen.push({ account: account ?? "", token, method });
    if (account === undefined || !issuer.tokens.has(token)) return refuse(401, "");
    const isEnough = self.needs === "" || issuer.tokens.get(token)?.split(" ").includes(self.needs);
    if (method === "tools/call" && !isEnough)
      return refuse(403, `error="insufficient_scope", scope="${self.needs}", `);
    const serve = byAccount.get(account) ?? (era === "modern" ? serveModern(account) : serveLegacy(account));
    byAccount.set(account, serve);
    return await serve(new Request(request, body === "" ? {} : { body }));
  }

  function refuse(status: number, more: string): Response {
    const challenge = `Bearer ${more}resource_metadata="${origin}${description}"`;
    return new Response(null, { status, headers: { "www-authenticate": challenge } });
  }

  function serveLegacy(account: string): Serve {
    const own = new Map<string, WebStandardStreamableHTTPServerTransport>();
    return async (request) => {
      const id = request.headers.get("mcp-session-id");
      if (id !== null && self.sessions.has(id) && self.sessions.get(id) !== account) self.mixedUp.push(id);
      const known = id === null ? undefined : own.get(id);
      if (known !== undefined) return await known.handleRequest(request);
      if (id !== null) return new Response(null, { status: 404 });
      const transport: WebStandardStreamableHTTPServerTransport =
        new WebStandardStreamableHTTPServerTransport({
          sessionIdGenerator: randomUUID,
          onsessioninitialized: (made) => {
            own.set(made, transport);
            self.sessions.set(made, account);
          },
          onsessionclosed: (made) => {
            own.delete(made);
            self.sessions.delete(made);
          },
        });
      await notesOf(account).connect(transport);
      return await transport.handleRequest(request);
    };
  }
}

function serveModern(account: string): Serve {
  return createMcpHandler(() => notesOf(account), { legacy: "reject" }).fetch;
}

function notesOf(account: string): McpServer {
  const server = new McpServer(
    { name: "notes", version: "1" },
    { instructions: `These are the notes of ${account}.` },
  );
  const say = (text: string) => ({ content: [{ type: "text" as const, text }] });
  server.registerTool("read", { description: "Reads a note" }, () => say(`the secret of ${account}`));
  server.registerTool(`only_${account}`, { description: `For ${account}` }, () => say("yes"));
  const uri = "notes://mine";
  server.registerResource("mine", uri, {}, () => ({ contents: [{ uri, text: `a page of ${account}` }] }));
  server.registerPrompt(`ask_${account}`, {}, () => ({
    messages: [{ role: "user", content: { type: "text", text: `I am ${account}` } }],
  }));
  return server;
}
