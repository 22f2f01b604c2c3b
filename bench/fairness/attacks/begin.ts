// One switch: which file does which verb.
import type { Going } from "./attack.ts";
import { writeFrames } from "./frames.ts";
import { hold } from "./holds.ts";
import { makeNoise } from "./noise.ts";
import { comeAndGo } from "./registrations.ts";
import { sendRequests } from "./requests.ts";
import { visit } from "./visits.ts";

/** Resolves when it has begun; it ends with the signal. */
export async function begin(going: Going): Promise<void> {
  const { verb } = going.attack;
  switch (verb.way) {
    case "requests":
      return sendRequests(verb.request, going);
    case "visits":
      return visit(verb.request, verb.readBytes ?? 0, going);
    case "holds":
      return hold(verb, going);
    case "frames":
      return writeFrames(verb, going);
    case "registrations":
      comeAndGo(verb, going);
      return;
    case "noise":
      return makeNoise(verb, going);
  }
}
