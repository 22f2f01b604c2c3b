// The forms that a configuration is made of: objects with known keys, lists, names, texts of one form. Each says what was
// expected where something else stands.
import { z } from "zod";
import * as is from "./config-values.ts";
import { unknownKey } from "./unknown-key.ts";

/** An object with these keys and no others. `later`: keys that are known but not built yet. */
export function section<Shape extends z.ZodRawShape>(shape: Shape, later: readonly string[] = []) {
  return z.strictObject(shape, {
    error: (issue) => {
      if (issue.code !== "unrecognized_keys") return is.expectation("an object", issue.input);
      // One line for each of the keys, in their order.
      return issue.keys.map((key) => unknownKey(key, Object.keys(shape), later)).join("\n");
    },
  });
}

export function list<T extends z.ZodType>(item: T) {
  return z.array(item, { error: ({ input }) => is.expectation("a list in [ ]", input) });
}

export function byName<Key extends z.ZodType<string, string>, T extends z.ZodType>(key: Key, item: T) {
  return z.record(key, item, { error: ({ input }) => is.expectation("an object with names as keys", input) });
}

/** A text of this form. */
export function shaped(expected: string, example: string, form: RegExp) {
  return z.custom<string>((input) => typeof input === "string" && form.test(input), {
    error: ({ input }) => is.expectation(`${expected}, for example ${JSON.stringify(example)}`, input),
  });
}
