// The gateway and its configuration, for tests and for programs that embed it.

export { joinLocally, ownPrincipal, type Rooms } from "./access/local-gateway.ts";
export { type Config, parseConfig } from "./config/config.ts";
export { type StartedGateway, type StartOptions, startGateway } from "./server/start-gateway.ts";
export { type TreeSettings, treeSettings } from "./settings/tree-settings.ts";
