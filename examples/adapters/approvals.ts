// What all examples share: where people are asked, and the one tool that is worth asking about.
import { rm } from "node:fs/promises";
import { createApprovals } from "@mcpx/client/adapters";

/** MCPX_TOKEN: `mcpx token --id cleaner --tools mcpax.ask --tools mcpax.wait`. */
export const approvals = createApprovals({
  url: process.env.MCPX_URL ?? "http://127.0.0.1:6279",
  token: process.env.MCPX_TOKEN ?? "",
});

/** With the key in ANTHROPIC_API_KEY. */
export const modelUrl = process.env.ANTHROPIC_BASE_URL ?? "https://api.anthropic.com";

export const prompt = process.argv[2] ?? "Delete the file old.txt.";

export async function deleteFile({ path }: { path: string }): Promise<string> {
  await rm(path);
  return `${path} is deleted`;
}

/** Ends the program: the same command goes on where it was, now or tomorrow. */
export function leaveWaiting(): never {
  console.log("waiting for a human: start me again");
  process.exit(0);
}
