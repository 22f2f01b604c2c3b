// `mcpx conform stub -- CMD…`: plays the gateway's part to the stub of a device.
import { conformStub, deviceVectorsFolder } from "@mcpx/conform";
import { showVerdicts } from "../../conform/show-verdicts.ts";
import { type Context, defineCommand } from "../../framework/command.ts";

const options = {
  profile: {
    type: "string",
    values: ["a", "b"],
    value: "PROFILE",
    about: "a (frames) or b (CBOR); default: b",
  },
} as const;

export const conformStubCommand = defineCommand({
  usage: "[--profile a|b] -- CMD…",
  words: { min: 1, max: Number.POSITIVE_INFINITY, values: [["command"], ["file"]] },
  options,
  examples: [["mcpx conform stub --profile a -- ./stub", "a stub that speaks on standard input and output"]],
  run: (context: Context<typeof options>) =>
    showVerdicts(context, conformStub(context.words, context.options.profile ?? "b", deviceVectorsFolder)),
});
