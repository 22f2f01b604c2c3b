// A process that only uses up one core: what any program on the machine does to a gateway, whoever it belongs to.
const until = Date.now() + 3_600_000;
let sum = 0;
process.on("disconnect", () => process.exit(0));
burn();

/** In slices, so that it notices the end of the process that started it. */
function burn(): void {
  const sliceEnd = Date.now() + 50;
  while (Date.now() < sliceEnd) for (let i = 0; i < 1_000; i += 1) sum += Math.sqrt(i);
  if (Date.now() < until) setImmediate(burn);
  else process.exitCode = sum > 0 ? 0 : 1;
}
