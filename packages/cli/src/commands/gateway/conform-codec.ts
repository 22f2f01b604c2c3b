// `mcpx conform codec -- CMD…`: asks a program the test vectors of the devices' bytes.
import { conformCodec, deviceVectorsFolder } from "@mcpx/conform";
import { showVerdicts } from "../../conform/show-verdicts.ts";
import { type Context, defineCommand } from "../../framework/command.ts";

const options = {} as const;

export const conformCodecCommand = defineCommand({
  usage: "-- CMD…",
  words: { min: 1, max: Number.POSITIVE_INFINITY, values: [["command"], ["file"]] },
  options,
  examples: [
    ["mcpx conform codec -- python3 codec.py", "a codec that answers one JSON line for each it reads"],
  ],
  run: (context: Context<typeof options>) =>
    showVerdicts(context, conformCodec(context.words, deviceVectorsFolder)),
});
