import fc from "fast-check";
import { expect, test } from "vitest";
import { splitList } from "./split-page.ts";

test("[X0-9-7] the texts of a list come out as they stand in it", () => {
  const text =
    ' {"next": "[{,", "envelopes" : [ {"a":1.0, "b":"]}\\""} ,[], "x" ,2e5 ] , "z":{"envelopes":[9]}} ';
  expect(splitList(text, ["envelopes"])).toEqual(['{"a":1.0, "b":"]}\\""}', "[]", '"x"', "2e5"]);
  expect(splitList(text, ["z", "envelopes"])).toEqual(["9"]);
  for (const path of [["none"], ["next"], ["z"], ["z", "none"], []])
    expect(splitList(text, path)).toEqual([]);
});

test("[X0-9-7] whatever is in the list", () => {
  const property = fc.property(fc.array(fc.json()), fc.string(), fc.json(), (texts, key, other) => {
    const name = `k${key}`;
    const page = `{"a":${other},${JSON.stringify(name)}:{"l":[${texts.join(" ,")}]},"b":${other}}`;
    expect(splitList(page, [name, "l"])).toEqual(texts.map((text) => text.trim()));
  });
  fc.assert(property);
});
