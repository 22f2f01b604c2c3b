import fc from "fast-check";
import { expect, test } from "vitest";
import { isSegment } from "../names/segment.ts";
import { createPeerNames, ownSegments } from "./peer-names.ts";

const ids = fc.uniqueArray(fc.stringMatching(/^[A-Za-z0-9._:@/+-]{1,40}$/), { maxLength: 30 });

test("[B-ROOM-1] every id has a segment of its own, and its segment leads back to it", () => {
  fc.assert(
    fc.property(ids, (given) => {
      const names = createPeerNames();
      const segments = given.map((id) => names.of(id));
      expect(new Set(segments).size).toBe(given.length);
      expect(segments.every(isSegment)).toBe(true);
      expect(segments.map((segment) => names.idOf(segment))).toEqual(given);
      expect(segments.some((segment) => ownSegments.includes(segment))).toBe(false);
    }),
  );
});

test("[B-ROOM-1] the segment does not depend on who else is there", () => {
  fc.assert(
    fc.property(ids, (given) => {
      const [forth, back] = [createPeerNames(), createPeerNames()];
      const one = new Map(given.map((id) => [id, forth.of(id)]));
      const other = new Map(given.toReversed().map((id) => [id, back.of(id)]));
      for (const id of given) expect(other.get(id)).toBe(one.get(id));
    }),
  );
});

test("[B-ROOM-1] an id that is a segment keeps it, unless it is one of the room's own", () => {
  const names = createPeerNames();
  expect(names.of("oven-1")).toBe("oven-1");
  expect(names.of("chat")).toMatch(/^chat-[a-z0-9]{6}$/);
  expect(names.of("Alice@example.com")).toMatch(/^alice_example_com-[a-z0-9]{6}$/);
  expect(names.idOf("somebody else")).toBe("somebody else");
});

test("[B-ROOM-1] an id made to look like another's alias takes nothing from it", () => {
  const names = createPeerNames();
  const alias = names.of("Oven.1");
  expect(names.of(alias)).not.toBe(alias);
  expect(names.idOf(alias)).toBe("Oven.1");
  expect(names.idOf(names.of(alias))).toBe(alias);
});

test("[B-ROOM-1] it takes nothing either where it comes first", () => {
  const alias = createPeerNames().of("bob@home");
  const names = createPeerNames();
  expect(names.of(alias)).not.toBe(alias);
  expect(names.of("bob@home")).toBe(alias);
  expect(names.idOf(alias)).toBe("bob@home");
});
