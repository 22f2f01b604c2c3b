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

/** Many changes become one: what is to be done is done once, when the screen is drawn next. */
export function createTouch(work: () => void, later: (work: () => void) => void): () => void {
  let isComing = false;
  return () => {
    if (isComing) return;
    isComing = true;
    later(() => {
      isComing = false;
      work();
    });
  };
}
