import { describe, expect, test } from "vitest";
import { RoomError } from "../core/room-error.ts";
import { type Failure, Itinerary } from "./itinerary.ts";

const network = new RoomError("network", "gone");
const failure = (more: Partial<Failure> = {}): Failure => ({
  error: network,
  livedMs: undefined,
  leaseLeftMs: 0,
  ...more,
});
const refused = (reason: string, more = {}) => failure({ error: new RoomError(reason, reason), ...more });

/** Where it goes and how long it waits before that. */
function walk(itinerary: Itinerary, failures: readonly Failure[], chance = 1): string[] {
  return failures.map((one) => {
    const waitMs = itinerary.next(one, chance);
    return waitMs === undefined ? "over" : `${itinerary.address} after ${waitMs}`;
  });
}

describe("with one aggregator", () => {
  test("waits double, from a tenth of a second to ten seconds", () => {
    const waits = walk(new Itinerary(["a"]), Array(10).fill(failure()));
    expect(waits.map((text) => Number(text.split(" ").at(-1)))).toEqual([
      100, 200, 400, 800, 1_600, 3_200, 6_400, 10_000, 10_000, 10_000,
    ]);
    expect(new Itinerary(["a"]).next(failure(), 0)).toBe(50);
  });

  test("a registration that lived begins anew, one that was dropped at once does not", () => {
    const itinerary = new Itinerary(["a"]);
    const failures = [failure(), failure({ livedMs: 10 }), failure({ livedMs: 6_000 })];
    expect(walk(itinerary, failures)).toEqual(["a after 100", "a after 200", "a after 100"]);
  });

  test("what may heal is the end only before it has worked", () => {
    const itinerary = new Itinerary(["a"]);
    expect(walk(itinerary, [refused("namespace_conflict")])).toEqual(["over"]);
    itinerary.arrive();
    const failures = ["namespace_conflict", "unauthorised", "authority_unproven"].map((word) =>
      refused(word),
    );
    expect(walk(itinerary, failures)).toEqual(["a after 100", "a after 200", "over"]);
  });
});

describe("[AX-13.3-3] with backups", () => {
  test("before the first registration all are tried in turn", () => {
    expect(walk(new Itinerary(["a", "b", "c"]), Array(4).fill(failure()))).toEqual([
      "b after 100",
      "c after 200",
      "a after 400",
      "b after 800",
    ]);
  });

  test("the same one until the lease is over; no wait reaches beyond that", () => {
    const itinerary = new Itinerary(["a", "b"]);
    const failures = [
      failure({ livedMs: 9_000, leaseLeftMs: 500 }),
      failure({ leaseLeftMs: 400 }),
      failure({ leaseLeftMs: 150 }),
      failure(),
    ];
    expect(walk(itinerary, failures)).toEqual(["a after 100", "a after 200", "b after 150", "a after 800"]);
  });

  test("one that has let go is asked first, one that has fallen silent is not", () => {
    const gone = new Itinerary(["a", "b"]);
    expect(walk(gone, [refused("registration_unknown", { livedMs: 9_000 })])).toEqual(["a after 100"]);
    const silent = new Itinerary(["a", "b"]);
    expect(walk(silent, [refused("timeout", { livedMs: 9_000 })])).toEqual(["b after 100"]);
  });

  test("one that refuses is not asked again, and the others not before the lease is over", () => {
    const itinerary = new Itinerary(["a", "b", "c"]);
    itinerary.arrive();
    const failures = [
      refused("authority_unproven", { leaseLeftMs: 700 }),
      failure(),
      failure(),
      refused("bad_params"),
    ];
    expect(walk(itinerary, failures)).toEqual(["b after 700", "c after 200", "b after 400", "c after 800"]);
    expect(walk(itinerary, [refused("bad_params")])).toEqual(["over"]);
  });

  test("who is registered elsewhere waits as long as it is told to, where it is", () => {
    const error = new RoomError("duplicate_subserver", "elsewhere", { retryAfterMs: 4_000 });
    expect(walk(new Itinerary(["a", "b"]), [failure({ error })])).toEqual(["a after 4000"]);
  });
});
