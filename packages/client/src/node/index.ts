// What the client library has for Node alone: stores on disk, keys in files.
export { createSqliteAccessStore } from "./access-store-sqlite.ts";
export { keyFile } from "./key-file.ts";
