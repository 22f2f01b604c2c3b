// What an attempt says: it holds where it resolves, and differs, with the words of the error, where it rejects.
import type { Verdict } from "./verdict.ts";

export async function outcomeOf(tried: Promise<void>): Promise<Pick<Verdict, "outcome" | "detail">> {
  try {
    await tried;
    return { outcome: "holds" };
  } catch (error) {
    return { outcome: "differs", detail: error instanceof Error ? error.message : String(error) };
  }
}
