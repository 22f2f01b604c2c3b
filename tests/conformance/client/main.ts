// The suite starts this forty times at once: what one has compiled the others need not.
import { enableCompileCache } from "node:module";

enableCompileCache();
await import("./drive.ts");
