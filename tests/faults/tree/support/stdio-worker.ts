// The worker over stdio, for `mcpx register`: the segment is the first argument.
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import { createWorker } from "./worker.ts";

serveStdio(() => createWorker(process.argv[2] ?? "", (n) => process.stderr.write(`did ${n}\n`)));
