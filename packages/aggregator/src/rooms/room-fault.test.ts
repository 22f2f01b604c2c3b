import { PeerError, RoomError } from "@mcpx/client";
import { isMcpxError, McpxError } from "@mcpx/protocol";
import { expect, test } from "vitest";
import { RpcError } from "../mcp/rpc-error.ts";
import { faultInRoom, isLevelFault, isNothingServed } from "./room-fault.ts";

const wordOf = (error: unknown) => {
  const fault = faultInRoom(error);
  return isMcpxError(fault) ? fault.code : fault;
};

test("[B-ROOM-1] the gateway's and the room's words become the tree's", () => {
  expect(wordOf(new RoomError("kicked", "out", { code: 40310 }))).toBe("kicked");
  expect(wordOf(new RoomError("peer_left", "gone"))).toBe("server_lost");
  expect(wordOf(new RoomError("not_here", "gone"))).toBe("server_unreachable");
  expect(wordOf(new RoomError("timeout", "late"))).toBe("timeout");
  expect(wordOf(new RoomError("something new", "?"))).toBe("server_lost");
  expect(wordOf(new PeerError(-32_001, "no", { reason: "privilege_violation" }))).toBe("privilege_violation");
  const data = { reason: "expired", detail: "it ended at noon" };
  expect(faultInRoom(new PeerError(-32_003, "fixed", data))).toMatchObject({ detail: "it ended at noon" });
});

test("[B-ROOM-1] a participant's own error stays its own, also where it uses one of our words", () => {
  const own = faultInRoom(new PeerError(7, "mine", { reason: "kicked" }));
  expect(own).toBeInstanceOf(RpcError);
  expect((own as RpcError).fault).toEqual({ code: 7, message: "mine", data: { reason: "kicked" } });
});

test("[B-ROOM-1] everything else is passed on as it is", () => {
  const ours = new McpxError("unknown_tool", "x");
  expect(faultInRoom(ours)).toBe(ours);
  const bug = new TypeError("bug");
  expect(faultInRoom(bug)).toBe(bug);
});

test("[B-ROOM-1] a level that fell and a server that is none are told apart", () => {
  expect(isLevelFault(new PeerError(-32_001, "no", { reason: "privilege_violation" }))).toBe(true);
  expect(isLevelFault(new PeerError(-32_601, "no", { reason: "not_served" }))).toBe(false);
  expect(isNothingServed(new PeerError(-32_601, "no"))).toBe(true);
  expect(isNothingServed(new RoomError("timeout", "late"))).toBe(false);
});

test("[B-ROOM-1] words that every object knows are no words of ours", () => {
  for (const reason of ["constructor", "toString", "__proto__"]) {
    expect(faultInRoom(new PeerError(-32_000, "x", { reason })), reason).toBeInstanceOf(RpcError);
    expect(wordOf(new RoomError(reason, "x")), reason).toBe("server_lost");
  }
});
