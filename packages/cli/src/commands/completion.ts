// `mcpx completion SHELL`: prints the script with which a shell completes command lines of mcpx.
import { readFileSync } from "node:fs";
import { type Context, defineCommand } from "../framework/command.ts";
import { misuse } from "../framework/failure.ts";
import { suggestion } from "../framework/nearest.ts";

const shells = ["bash", "zsh", "fish"] as const;

export const completion = defineCommand({
  usage: shells.join(" | "),
  words: { min: 1, max: 1, values: [[shells]] },
  options: {},
  examples: [
    ["mcpx completion bash > ~/.local/share/bash-completion/completions/mcpx", "bash, with bash-completion"],
    ["echo 'source <(mcpx completion bash)' >> ~/.bashrc", "bash, without it"],
    ["mcpx completion zsh > ~/.zfunc/_mcpx", "zsh; in ~/.zshrc, before compinit: fpath+=(~/.zfunc)"],
    ["mcpx completion fish > ~/.config/fish/completions/mcpx.fish", "fish"],
  ],
  run,
});

async function run({ options, output, words }: Context): Promise<number> {
  const [word = ""] = words;
  const shell = shells.find((one) => one === word);
  if (shell === undefined) {
    throw misuse(
      `there is no completion for ${word}`,
      suggestion(word, shells) ?? `use ${shells.join(", ")}`,
    );
  }
  const script = readFileSync(new URL(`../../completion/mcpx.${shell}`, import.meta.url), "utf8");
  if (options.json) output.json({ shell, script });
  else output.line(script.trimEnd());
  return 0;
}
