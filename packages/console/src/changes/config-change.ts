// A change of the configuration as the page asks for it: shown by the gateway first, made when a person has said yes.
import type { JsonObject } from "@mcpx/protocol";
import type { Api } from "../store/api.ts";

interface Start {
  name: string;
  words: string[];
  url: string | null;
  cwd: string | null;
  env: string[];
  headers: string[];
  isOff: boolean;
  isTrusted: boolean;
  isPerUser: boolean;
  unannotated: string | null;
}

export interface Preview {
  file: string;
  isNew: boolean;
  isDemo: boolean;
  lines: { sign: string; text: string }[];
  linesLeftOut: number;
  starts: Start[];
  leaving: string[];
  /** What is configured for a tool, where the change is about one. */
  tool?: { isOn: boolean; name: string | null; fixed: string[] };
  digest: string;
}

export async function previewChange(api: Pick<Api, "call">, change: JsonObject): Promise<Preview> {
  return (await api.call("POST", "/servers/preview", { change })) as unknown as Preview;
}

/** What has happened, in a sentence. */
export async function makeChange(
  api: Pick<Api, "call">,
  change: JsonObject,
  { digest }: Preview,
): Promise<string> {
  const { file, backup, isClosed } = await api.call("POST", "/servers/change", { change, digest });
  const before =
    backup === null ? "" : ` The file as it was is beside it: ${String(backup).split(/[\\/]/).at(-1)}.`;
  const closed = isClosed === true ? " The file holds secrets, so only its owner may read it now." : "";
  return `${String(file)} was written.${before}${closed}`;
}

/** Makes it, or where it would be another change meanwhile gives back that one, to be looked at. */
export async function makeOrLookAgain(
  api: Pick<Api, "call">,
  change: JsonObject,
  preview: Preview,
): Promise<{ said: string } | { changed: Preview }> {
  try {
    return { said: await makeChange(api, change, preview) };
  } catch (refusal) {
    const changed = await previewChange(api, change).catch(() => preview);
    if (changed.digest === preview.digest) throw refusal;
    return { changed };
  }
}
