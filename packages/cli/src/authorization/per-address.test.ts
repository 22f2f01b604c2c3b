import { createManualClock } from "@mcpx/host";
import { expect, test } from "vitest";
import { createAttempts } from "../console/passkeys/attempts.ts";
import { createPerAddress } from "./per-address.ts";

const counters = {
  "what strangers make": (clock: ReturnType<typeof createManualClock>) => createPerAddress(clock, 20),
  "attempts to log in": (clock: ReturnType<typeof createManualClock>) => createAttempts(clock).count,
};

test.each(Object.entries(counters))(
  "%s are counted for a network, not for each of its addresses; another's count for themselves",
  (_, counterOf) => {
    const count = counterOf(createManualClock());
    for (let i = 0; i < 20; i += 1) count(`2001:db8:1:2::${i}`);
    expect(() => count("2001:db8:1:2::ffff")).toThrow(expect.objectContaining({ code: "rate_limited" }));
    expect(() => count("2001:db8:1:3::1")).not.toThrow();
  },
);
