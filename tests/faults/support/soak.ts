// `npm run soak` runs the same tests for longer.

const isSoak = process.env.MCPX_SOAK === "1";

/** How often, or how much: the first in `npm test`, the second in a soak. */
export const scale = (short: number, long: number): number => (isSoak ? long : short);

/** Deadline of a test: generous, for machines that are busy with other things. */
export const timeout: number = scale(120_000, 1_800_000);
