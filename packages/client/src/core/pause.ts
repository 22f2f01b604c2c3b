// Waiting, and being woken.

/** Resolves after so long, or when the signal is aborted. Leaves nothing behind. */
export function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      signal.removeEventListener("abort", done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    if (signal.aborted) done();
    else signal.addEventListener("abort", done, { once: true });
  });
}

/** What the work gives, unless the signal is aborted or the limit is reached before. Leaves nothing behind. */
export async function within<T>(
  work: Promise<T>,
  signal: AbortSignal,
  limit?: { ms: number; error: Error },
): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>();
  const stop = () => reject(signal.reason);
  const timer = limit && setTimeout(() => reject(limit.error), limit.ms);
  if (signal.aborted) stop();
  else signal.addEventListener("abort", stop, { once: true });
  try {
    return await Promise.race([work, promise]);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", stop);
  }
}
