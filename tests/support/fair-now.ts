// A clock for bounds in milliseconds: it stands still while the machine lets this process do nothing, so that a test
// judges what it waits for and not who else is busy. Time this process works counts, whatever it works at.

const tickMs = 5;
/** So late is a timer of a machine that is not busy at most. */
const pauseMsMax = 20;

let seenAtMs = performance.now();
let cpuUs = usedUs();
let passedMs = 0;

function usedUs(): number {
  const { user, system } = process.cpuUsage();
  return user + system;
}

function look(): void {
  const nowMs = performance.now();
  const nowUs = usedUs();
  passedMs += Math.min(nowMs - seenAtMs, pauseMsMax + (nowUs - cpuUs) / 1_000);
  seenAtMs = nowMs;
  cpuUs = nowUs;
}

setInterval(look, tickMs).unref();

/** Milliseconds since some time; only differences mean anything. */
export function fairNow(): number {
  look();
  return passedMs;
}
