// Watches over what is open at the HTTP endpoint: tokens that end, streams to keep alive, what nobody uses any more.
import type { Clock, Identity } from "@mcpx/host";
import { McpxError } from "@mcpx/protocol";
import type { Accounts } from "../mcp/accounts.ts";
import type { CallTable } from "../mcp/call-table.ts";
import type { HttpReply } from "./http-reply.ts";
import type { Legacy } from "./legacy.ts";
import type { Modern } from "./modern.ts";

export interface Watched {
  open: CallTable<HttpReply>;
  accounts: Accounts;
  modern: Modern;
  legacy: Legacy;
  identity: Pick<Identity, "revocations">;
  clock: Clock;
  pulseMs: number;
}

/** Begins; gives back the way to end it. */
export function watchOver({ open, accounts, modern, legacy, identity, clock, pulseMs }: Watched): () => void {
  function pulse(): void {
    const now = clock.now();
    const monotonic = clock.monotonic();
    for (const reply of open.values()) {
      if (reply.principal.expiresAt <= now) reply.end(new McpxError("token_expired"));
      else reply.pulse(monotonic);
    }
    modern.sweep();
    legacy.sweep();
    accounts.sweep();
  }

  const timer = setInterval(pulse, pulseMs).unref();
  const stopHearing = identity.revocations.onRevoked((jti) => {
    for (const reply of open.values())
      if (reply.principal.jti === jti) reply.end(new McpxError("token_revoked"));
    legacy.revoke(jti);
  });
  return () => {
    clearInterval(timer);
    stopHearing();
  };
}

const lookMs = 10;

/** Resolves when nothing is open any more, or after `graceMs`: then what is left ends with an error. */
export async function waitForEnd(open: CallTable<HttpReply>, graceMs: number): Promise<void> {
  const until = performance.now() + graceMs;
  while (open.size > 0 && performance.now() < until)
    await new Promise((resolve) => setTimeout(resolve, lookMs));
  for (const reply of open.values()) reply.end(new McpxError("draining"));
}
