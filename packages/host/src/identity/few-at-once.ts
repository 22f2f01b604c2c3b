// Runs work a few at a time: for what threads of the pool do, which take their time from the event loop where there are
// no more cores than that. Every caller has a line of its own, and the lines take turns: a crowd that asks for very
// much waits behind itself.

type InLine = <Result>(work: () => Promise<Result>, asker?: string) => Promise<Result>;

export function fewAtOnce(max: number): InLine {
  /** By asker, whose turn comes first. */
  const lines = new Map<string, (() => void)[]>();
  let running = 0;

  function wait(asker: string): Promise<void> {
    return new Promise((resolve) => {
      const line = lines.get(asker);
      if (line === undefined) lines.set(asker, [resolve]);
      else line.push(resolve);
    });
  }

  function next(): (() => void) | undefined {
    for (const [asker, line] of lines) {
      lines.delete(asker);
      const first = line.shift();
      if (line.length > 0) lines.set(asker, line);
      return first;
    }
    return undefined;
  }

  return async (work, asker = "") => {
    // When one ends, its place goes to the next in line.
    if (running === max) await wait(asker);
    else running += 1;
    try {
      return await work();
    } finally {
      const begin = next();
      if (begin === undefined) running -= 1;
      else begin();
    }
  };
}
