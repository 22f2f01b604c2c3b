// What the client library has for Node alone: stores on disk, keys in files.
export { createSqliteAccessStore } from "./access-store-sqlite.ts";
export { type KeyBookFileOptions, keyBookFile } from "./key-book-file.ts";
export { keyFile } from "./key-file.ts";
