// The half of a login that stands behind the # of its link. Anybody can open the page with one: it is taken only where
// the gateway knows it, so that nobody is logged out by a link.

export interface Halves {
  /** As the address has it. */
  hash: string;
  known(): string | null;
  keep(half: string): void;
  /** It need not stand in the address any more; whether it was taken. */
  clear(isTaken: boolean): void;
  fetch: typeof fetch;
}

const answerMs = 10_000;

export async function takeLoginSecret({ hash, known, keep, clear, fetch }: Halves): Promise<void> {
  const given = /^#in=([A-Za-z0-9_-]{43})$/.exec(hash)?.[1];
  if (given === undefined) return;
  const isKnown = await isLetIn(given, fetch);
  const isTaken = isKnown ?? known() === null;
  if (isTaken) keep(given);
  // Where nobody has answered, loading the page again tries it again.
  if (isTaken || isKnown === false) clear(isTaken);
}

/** `undefined` where it could not be asked. */
async function isLetIn(half: string, ask: typeof fetch): Promise<boolean | undefined> {
  try {
    const { ok, status } = await ask("/console/api/session", {
      headers: { "x-mcpx-console": half },
      redirect: "error",
      signal: AbortSignal.timeout(answerMs),
    });
    return ok ? true : status === 401 ? false : undefined;
  } catch {
    return undefined;
  }
}
