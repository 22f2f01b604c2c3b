// The suite starts this fifty times: what one has compiled the others need not.
import { enableCompileCache } from "node:module";

enableCompileCache();
await import("./drive.ts");
