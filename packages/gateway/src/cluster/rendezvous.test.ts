import { expect, test } from "vitest";
import { preferredGateway } from "./rendezvous.ts";

const topics = Array.from({ length: 3_000 }, (_, i) => `topic-${i}`);

test("topics are spread over all gateways, and only those of one that went away move", () => {
  const before = topics.map((topic) => preferredGateway(topic, [1, 2, 3]));
  for (const gateway of [1, 2, 3]) {
    const share = before.filter((owner) => owner === gateway).length / topics.length;
    expect(share).toBeGreaterThan(0.3);
    expect(share).toBeLessThan(0.37);
  }
  const after = topics.map((topic) => preferredGateway(topic, [3, 1]));
  expect(after.filter((owner, i) => owner !== before[i] && before[i] !== 2)).toEqual([]);
  expect(preferredGateway("room", [])).toBeUndefined();
});
