// `--smoke`: a bench does all it does, as little of it as it can, and what it measures means nothing. `npm test` starts
// every bench so, to see that it still runs. The processes a bench starts hear of it by their environment.
if (process.argv.includes("--smoke")) process.env.MCPX_BENCH_SMOKE = "1";

export const isSmoke = process.env.MCPX_BENCH_SMOKE === "1";

export function sized<T>(full: T, smoke: T): T {
  return isSmoke ? smoke : full;
}
