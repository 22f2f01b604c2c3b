// Where the conformance kit gets its tokens: from the data directory of the gateway that runs here, or from a command
// of the implementation under test, which reads the claims as JSON on its standard input and prints a token.
import { spawn } from "node:child_process";
import { text } from "node:stream/consumers";
import type { Claims } from "@mcpx/conform";
import type { TokenClaims } from "@mcpx/host";
import { withStore } from "../files/local-store.ts";
import type { Home } from "../files/state-place.ts";
import { Failure } from "../framework/failure.ts";

export type Mint = (claims: Claims) => Promise<string>;

const ttlMs = 10 * 60_000;

export function mintFromStore(home: Home): Mint {
  return async (claims) => {
    const { token } = await withStore(home, {}, ({ identity }) =>
      identity.tokens.mint({ topics: [], ...claims } as TokenClaims, { ttlMs }),
    );
    return token;
  };
}

export function mintByCommand(command: string): Mint {
  return async (claims) => {
    const child = spawn("sh", ["-c", command], { stdio: ["pipe", "pipe", "inherit"] });
    // A command that does not read its input closes it.
    child.stdin.on("error", () => {}).end(JSON.stringify(claims));
    const ended = new Promise<number | null>((resolve) => child.once("close", resolve));
    const [printed, status] = [await text(child.stdout), await ended];
    const token = printed.trim();
    if (status === 0 && /^\S+$/.test(token)) return token;
    const fault = status === 0 ? "printed no token" : `ended with ${status}`;
    throw new Failure(
      `the token command ${fault} for ${JSON.stringify(claims)}`,
      "let it print one token on standard output for the claims on standard input",
    );
  };
}
