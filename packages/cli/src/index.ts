// What tests compose a server with.
export { type Server, type ServerOptions, startServer } from "./start-server.ts";
