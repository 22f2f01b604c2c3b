// Simulated devices in a process of their own, so that what they cost is not counted as ours. Prints their ports.
import { startSimulatedStub } from "../../packages/devices/src/testing/simulated-stub.ts";

const count = Number(process.argv[2]);
const stubs = await Promise.all(Array.from({ length: count }, startSimulatedStub));
// The last one hears and does not answer once it is told to.
process.stdin.once("data", () => {
  const last = stubs.at(-1);
  if (last !== undefined) last.isSilent = true;
  process.stdout.write("silent\n");
});
process.stdout.write(`${JSON.stringify(stubs.map(({ port }) => port))}\n`);
