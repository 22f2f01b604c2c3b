// The half of a login that pages of this origin keep, and how they hear of one that was made in another tab.

/** Kept for this origin alone, and worth nothing without the cookie. */
const halfKey = "mcpx-console-half";

export function knownLoginSecret(): string | null {
  return localStorage.getItem(halfKey);
}

export function keepLoginSecret(half: string): void {
  localStorage.setItem(halfKey, half);
}

/** Somebody has logged in, in another tab of this browser. */
export function comeAlong(run: () => void): () => void {
  const hear = ({ key }: StorageEvent) => {
    if (key === halfKey) run();
  };
  addEventListener("storage", hear);
  return () => removeEventListener("storage", hear);
}
