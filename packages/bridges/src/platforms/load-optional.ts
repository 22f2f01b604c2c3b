// A platform's library is an optional peer, loaded when the first bridge to that platform starts.
import { PlatformError } from "../platform.ts";

/** Refuses with what to type where the library is not installed. */
export async function loadOptional<T>(name: string, load: () => Promise<T>): Promise<T> {
  try {
    return await load();
  } catch (error) {
    const isMissing = (error as NodeJS.ErrnoException).code === "ERR_MODULE_NOT_FOUND";
    const what = isMissing
      ? `needs the package ${name}; install it with: npm install ${name}`
      : `could not load ${name}`;
    throw new PlatformError("refused", `this bridge ${what}`, { cause: error });
  }
}
