// What is left after a full collection.
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

// At run time, so that the suite needs no flag of its own.
setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc") as () => void;

export function memoryInUse(): { heap: number; rss: number } {
  collect();
  const { heapUsed, external, rss } = process.memoryUsage();
  return { heap: heapUsed + external, rss };
}
