import { expect, test } from "vitest";
import { defaultOptions, type Gateway } from "../room/gateway-state.ts";
import type { Room } from "../room/room.ts";
import type { Admission } from "./admit.ts";
import { attach } from "./let-in.ts";

/** Somebody whose first page was just read, and what has happened meanwhile. */
function late(meanwhile: { isRevoked?: boolean; isThere?: boolean; takeover?: "refuse" | "replace" }) {
  const { isRevoked = false, isThere = false, takeover = "refuse" } = meanwhile;
  const recorded: unknown[] = [];
  const gateway = {
    options: { ...defaultOptions, takeover },
    identity: { revocations: { isRevoked: () => isRevoked } },
    levelDecisions: { find: () => undefined },
    audit: { record: ({ reason }: { reason: string }) => recorded.push(reason) },
  } as unknown as Gateway;
  const admission = {
    topic: "demo",
    participant: { id: "alice" },
    principal: { id: "alice", jti: "1", level: "full", levelMax: "full" },
  } as unknown as Admission;
  const room = { topic: "demo", members: new Map(isThere ? [["alice", {}]] : []) } as unknown as Room;
  const come = () =>
    attach(gateway, admission, { room, position: 0, recent: [] }, () => {
      throw new Error("a wire was made");
    });
  return { come, recorded };
}

test("[X0-6-1] a token that was revoked, or an id that came in, while a newcomer's page was read is refused before there is a wire", () => {
  const revoked = late({ isRevoked: true });
  expect(revoked.come).toThrow(expect.objectContaining({ code: "token_revoked" }));
  const second = late({ isThere: true });
  expect(second.come).toThrow(expect.objectContaining({ code: "already_connected" }));
  expect([...revoked.recorded, ...second.recorded]).toEqual(["token_revoked", "already_connected"]);
  // The controls: nothing has happened, or the second one is to replace the first.
  for (const nothing of [late({}), late({ isThere: true, takeover: "replace" })])
    expect(nothing.come).toThrow("a wire was made");
});
