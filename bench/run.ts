// `npm run bench -- NAME [--json] [--smoke]`: runs one benchmark and prints its figures, ours beside a peer's in the same
// run; with --smoke as little as shows that it still runs (sizes.ts).
import { cpus } from "node:os";
import { benchBridges } from "./bridges/bridges.ts";
import { benchClient } from "./client/client.ts";
import { benchConsole } from "./console/console.ts";
import { benchDevices } from "./devices/devices.ts";
import { benchFairness } from "./fairness/fairness.ts";
import { benchGates } from "./gates/gates.ts";
import { benchGuard } from "./guard/guard.ts";
import { benchHeapPerByte } from "./heap/heap-per-byte.ts";
import { benchHop } from "./hop/hop.ts";
import { benchRecovery } from "./recovery/recovery.ts";
import { benchRooms } from "./rooms/rooms.ts";
import { benchStore } from "./store/store.ts";
import { benchTree } from "./tree/tree.ts";

const benches: Record<string, (note: (line: string) => void) => Promise<Record<string, unknown>>> = {
  bridges: benchBridges,
  client: benchClient,
  console: benchConsole,
  devices: benchDevices,
  fairness: benchFairness,
  gates: benchGates,
  guard: benchGuard,
  "heap-per-byte": benchHeapPerByte,
  hop: benchHop,
  recovery: benchRecovery,
  rooms: benchRooms,
  store: benchStore,
  tree: benchTree,
};

const name = process.argv[2] ?? "";
const isJson = process.argv.includes("--json");
const bench = Object.hasOwn(benches, name) ? benches[name] : undefined;
if (bench === undefined) {
  process.stderr.write(
    `bench: name one of ${Object.keys(benches).join(", ")}; e.g. npm run bench -- rooms --json\n`,
  );
  process.exit(2);
}
// Progress goes to stderr, so that stdout is one JSON object.
const { table, ...results } = await bench((line) => process.stderr.write(`${line}\n`));
const machine = `${cpus().length} × ${cpus()[0]?.model.trim()}`;
const report = { name, machine, node: process.version, results };
// For people a bench may have a table instead.
const text = typeof table === "string" ? table : JSON.stringify(report, null, 2);
process.stdout.write(isJson ? `${JSON.stringify(report)}\n` : `${text}\n`);
process.exit(0);
