// Runs work a few at a time, first come first served: for what threads of the pool do, which take their time from the
// event loop where there are no more cores than that.

export function fewAtOnce(max: number): <Result>(work: () => Promise<Result>) => Promise<Result> {
  const line: (() => void)[] = [];
  let running = 0;
  return async (work) => {
    // The place of whoever ends goes to the next in line.
    if (running === max) await new Promise<void>((resolve) => line.push(resolve));
    else running += 1;
    try {
      return await work();
    } finally {
      const next = line.shift();
      if (next === undefined) running -= 1;
      else next();
    }
  };
}
