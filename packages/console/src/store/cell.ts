// A value that tells when it changes. Components read it as a store; tests read it as it is. Pure.

export interface Readable<T> {
  get(): T;
  /** Calls back at once and at every change; returns the way to stop. */
  subscribe(run: (value: T) => void): () => void;
}

export interface Cell<T> extends Readable<T> {
  set(value: T): void;
}

export function createCell<T>(first: T): Cell<T> {
  let value = first;
  const runs = new Set<(value: T) => void>();
  return {
    get: () => value,
    set(next) {
      if (Object.is(value, next)) return;
      value = next;
      for (const run of [...runs]) run(value);
    },
    subscribe(run) {
      runs.add(run);
      run(value);
      return () => runs.delete(run);
    },
  };
}

/** Does something when the screen is drawn next, and not before so many ms are over. */
export type Later = (work: () => void, waitMs: number) => void;

/** Many changes become one: what is to be done is done once, and no more often than every so many ms. */
export function createTouch(work: () => void, later: Later, everyMs = 0): () => void {
  let isComing = false;
  let mayAt = 0;
  return () => {
    if (isComing) return;
    isComing = true;
    const wait = Math.max(0, mayAt - performance.now());
    later(() => {
      isComing = false;
      mayAt = performance.now() + everyMs;
      work();
    }, wait);
  };
}
