// The composed server and its configuration, for tests and for those who embed it.

export { type Config, parseConfig } from "./config.ts";
export { joinLocally, ownPrincipal, type Rooms } from "./local-gateway.ts";
export { type Server, type ServerOptions, startServer } from "./start-server.ts";
export { type TreeSettings, treeSettings } from "./tree-settings.ts";
