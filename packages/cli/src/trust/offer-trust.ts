// `mcpx up` where the configuration of the working directory waits to be accepted: at a terminal it is shown, and its
// user is asked once. Elsewhere nothing happens here, and what comes after says what is missing.

import { acceptFile } from "../config/accepted-files.ts";
import { type ConfigPlaces, findConfig } from "../config/find-config.ts";
import type { Surroundings } from "../framework/command.ts";
import { Failure } from "../framework/failure.ts";
import { ask } from "../framework/show-change.ts";
import { showOffered } from "./show-effects.ts";

type Asking = Pick<Surroundings, "output" | "input" | "env"> & { options: { json: boolean } };

export async function offerTrust(context: Asking, places: ConfigPlaces): Promise<void> {
  const found = findConfig(places);
  if (found?.kind !== "elsewhere" || found.accepted?.text === found.text) return;
  if (context.options.json || !context.input().isTerminal) return;
  const { path, text, accepted } = found;
  showOffered(context, found);
  const question = accepted === undefined ? "Accept this configuration?" : "Accept this change?";
  const answer = await ask(context, `${question} y or n (Enter: n)`);
  if (/^y(es)?$/i.test(answer ?? "")) {
    acceptFile(places.dataDir, path, text, new Date());
    return;
  }
  // What was accepted before is still good.
  if (accepted === undefined) throw new Failure(`${path} was not accepted, so nothing was started`);
}
