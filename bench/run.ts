// `npm run bench -- NAME [--json] [--smoke]`: runs one benchmark and prints its figures, ours beside a peer's in the same
// run; with --smoke as little as shows that it still runs (sizes.ts).
import { cpus } from "node:os";

type Bench = (note: (line: string) => void) => Promise<Record<string, unknown>>;

/** Each loads what it needs once it is named. */
const benches: Record<string, () => Promise<Bench>> = {
  bridges: async () => (await import("./bridges/bridges.ts")).benchBridges,
  client: async () => (await import("./client/client.ts")).benchClient,
  console: async () => (await import("./console/console.ts")).benchConsole,
  devices: async () => (await import("./devices/devices.ts")).benchDevices,
  fairness: async () => (await import("./fairness/fairness.ts")).benchFairness,
  gates: async () => (await import("./gates/gates.ts")).benchGates,
  guard: async () => (await import("./guard/guard.ts")).benchGuard,
  "heap-per-byte": async () => (await import("./heap/heap-per-byte.ts")).benchHeapPerByte,
  hop: async () => (await import("./hop/hop.ts")).benchHop,
  recovery: async () => (await import("./recovery/recovery.ts")).benchRecovery,
  rooms: async () => (await import("./rooms/rooms.ts")).benchRooms,
  store: async () => (await import("./store/store.ts")).benchStore,
  tree: async () => (await import("./tree/tree.ts")).benchTree,
};

const name = process.argv[2] ?? "";
const isJson = process.argv.includes("--json");
const load = Object.hasOwn(benches, name) ? benches[name] : undefined;
if (load === undefined) {
  process.stderr.write(
    `bench: name one of ${Object.keys(benches).join(", ")}; e.g. npm run bench -- rooms --json\n`,
  );
  process.exit(2);
}
// Progress goes to stderr, so that stdout is one JSON object.
const bench = await load();
const { table, ...results } = await bench((line) => process.stderr.write(`${line}\n`));
const machine = `${cpus().length} × ${cpus()[0]?.model.trim()}`;
const report = { name, machine, node: process.version, results };
// For people a bench may have a table instead.
const text = typeof table === "string" ? table : JSON.stringify(report, null, 2);
process.stdout.write(isJson ? `${JSON.stringify(report)}\n` : `${text}\n`);
process.exit(0);
