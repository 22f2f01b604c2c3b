// The tree: many MCP servers under one dotted namespace.

export { createTree, type RunningTree, type TreeOptions } from "./create-tree.ts";
export type { CredentialStore } from "./credentials/credential-store.ts";
export { createFileCredentialStore } from "./credentials/credential-store-files.ts";
export type { Credentials } from "./credentials/credentials.ts";
export { createOAuthCredentials } from "./credentials/oauth-credentials.ts";
export type { OAuthConfig } from "./credentials/party.ts";
export { createHttpDoor, type HttpDoor, type HttpDoorOptions } from "./doors/http.ts";
export { type StdioDoor, type StdioDoorOptions, serveStdio } from "./doors/stdio.ts";
export type { Answers, Caller, Exchange, Question, Questions } from "./exchange.ts";
export type { HttpAddress } from "./links/http-caller.ts";
export type { Link, LinkRequest, LinkTaker, ServerFacts } from "./links/link.ts";
export { defaultLinkLimits, type LinkLimits } from "./links/link-limits.ts";
export { type OpenOptions, openLink, type Transport } from "./links/open-link.ts";
export type { ServerCommand } from "./links/start-process.ts";
export type { Sending, Wire, WireTaker } from "./links/wire.ts";
export { openHttpWire } from "./links/wire-http.ts";
export { openStdioWire } from "./links/wire-stdio.ts";
export { type Dialect, dialects, isDialect } from "./names/dialects.ts";
export { segmentFor } from "./names/segment.ts";
export type { Profile } from "./profile.ts";
export type { Opening, OpenServer, ServerOptions } from "./server.ts";
export type { Subscription, Tree, TreeFacts, Wishes } from "./tree.ts";
