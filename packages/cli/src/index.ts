// The composed server and its configuration, for tests and for those who embed it.

export { joinLocally, ownPrincipal, type Rooms } from "./access/local-gateway.ts";
export { type Config, parseConfig } from "./config/config.ts";
export { type Server, type ServerOptions, startServer } from "./server/start-server.ts";
export { type TreeSettings, treeSettings } from "./settings/tree-settings.ts";
