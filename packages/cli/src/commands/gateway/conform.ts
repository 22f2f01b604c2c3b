// `mcpx conform [URL]`: judges a gateway and its tree by what goes over the wire.
import { conformRooms, conformTree, type Target, transcriptsFolder, type Verdict } from "@mcpx/conform";
import { runningPlace } from "../../access/running-gateway.ts";
import { showVerdicts } from "../../conform/show-verdicts.ts";
import { mintByCommand, mintFromStore } from "../../conform/token-source.ts";
import { dataDirOf } from "../../files/data-dir.ts";
import { type Context, dataOption, defineCommand } from "../../framework/command.ts";
import { Failure, misuse } from "../../framework/failure.ts";

const parts = ["rooms", "tree"] as const;

const options = {
  ...dataOption,
  only: { type: "string", values: parts, value: "PART", about: "rooms or tree (default: both)" },
  "token-command": {
    type: "string",
    value: "CMD",
    about: "prints a token for the claims (JSON) on its standard input; needed for another gateway",
  },
} as const;

export const conform = defineCommand({
  usage: "[URL] [--only PART] [--token-command CMD]",
  words: { min: 0, max: 1 },
  options,
  examples: [
    ["mcpx conform", "the gateway that runs here"],
    ["mcpx conform http://127.0.0.1:8080 --token-command 'node mint.js'", "another implementation"],
    ["mcpx conform --only tree --json", "registration alone, for programs"],
  ],
  run,
});

async function run(context: Context<typeof options>): Promise<number> {
  const { only } = context.options;
  const target = targetOf(context);
  await reach(target.url);
  return await showVerdicts(context, verdictsOf(target, only === undefined ? parts : [only]));
}

async function* verdictsOf(
  target: Target,
  wanted: readonly (typeof parts)[number][],
): AsyncGenerator<Verdict> {
  if (wanted.includes("rooms")) yield* conformRooms(target, transcriptsFolder);
  if (wanted.includes("tree")) yield* conformTree(target);
}

function targetOf(context: Context<typeof options>): Target {
  const { options, words } = context;
  const dataDir = dataDirOf(context, options);
  const here = runningPlace(dataDir)?.url;
  const url = words[0] === undefined ? here : originOf(words[0]);
  if (url === undefined) {
    throw new Failure(`no gateway runs on ${dataDir}`, "start one with mcpx up, or give the URL of another");
  }
  const command = options["token-command"];
  if (command !== undefined) return { url, mint: mintByCommand(command) };
  // Tokens of the local gateway would give the tested gateway access to the local one.
  if (url !== here) throw misuse(`${url} needs tokens of its own`, "give --token-command CMD");
  return { url, mint: mintFromStore({ ...context, dataDir }) };
}

function originOf(text: string): string {
  const url = URL.parse(text);
  if (url !== null && ["http:", "https:"].includes(url.protocol)) return url.origin;
  throw misuse(`${text} is no address of a gateway`, "give it as http://HOST:PORT or https://HOST");
}

/** Otherwise every transcript would fail in the same way. */
async function reach(url: string): Promise<void> {
  await fetch(url, { method: "HEAD", signal: AbortSignal.timeout(10_000) }).catch((error: Error) => {
    throw new Failure(`${url} does not answer`, "check that it runs", { cause: error, isTemporary: true });
  });
}
