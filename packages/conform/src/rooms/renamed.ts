// A transcript with names of its own, so that it can be played against a gateway that has seen it before: rooms and
// participants get a suffix, wherever they are named.

const declared = /^(\S+) (?:is an? (?:full|restricted|responder|unnamed|admin)\b|has )/;

export function renamed(text: string, suffix: string): string {
  const [title = "", ...lines] = text.split("\n");
  const topics = new Set<string>();
  const people = new Set<string>();
  for (const line of lines) {
    const topic = /^topic (\S+)$/.exec(line)?.[1];
    if (topic !== undefined) topics.add(topic);
    const person = declared.exec(line)?.[1];
    if (person !== undefined) people.add(person);
  }
  let body = lines.join("\n");
  for (const topic of topics) {
    for (const form of new Set([topic, encodeURIComponent(topic)])) {
      body = withSuffix(body, form, suffix, { before: "", after: isTopicEnd });
    }
  }
  for (const person of people) {
    body = withSuffix(body, person, suffix, { before: "$:.", after: isWordEnd });
  }
  return `${title}\n${body}`;
}

const words = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";

function isWordEnd(rest: string): boolean {
  return rest === "" || !words.includes(rest[0] as string);
}

/** A path may go on behind the name of a room; a longer name is another room. */
function isTopicEnd(rest: string): boolean {
  if (rest.startsWith("/history") || rest.startsWith("/participants")) return true;
  return isWordEnd(rest) && !"./-".includes(rest[0] ?? " ");
}

/** Puts the suffix behind each occurrence of a name that stands alone: not behind a word or one of `before`. */
function withSuffix(
  text: string,
  name: string,
  suffix: string,
  { before, after }: { before: string; after(rest: string): boolean },
): string {
  const [first = "", ...others] = text.split(name);
  let result = first;
  for (const rest of others) {
    const last = result.at(-1) ?? "\n";
    const isAlone = !words.includes(last) && !before.includes(last) && after(rest);
    result += `${name}${isAlone ? `.${suffix}` : ""}${rest}`;
  }
  return result;
}
