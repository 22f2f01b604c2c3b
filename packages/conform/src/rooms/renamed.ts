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
      body = body.replaceAll(new RegExp(`${escaped(form)}(?![\\w./-])`, "g"), `${form}.${suffix}`);
      // A path goes on behind the name.
      body = body.replaceAll(
        new RegExp(`${escaped(form)}(?=/(?:history|participants))`, "g"),
        `${form}.${suffix}`,
      );
    }
  }
  for (const person of people) {
    body = body.replaceAll(
      new RegExp(`(?<![$\\w:.])${escaped(person)}(?![\\w])`, "g"),
      `${person}.${suffix}`,
    );
  }
  return `${title}\n${body}`;
}

function escaped(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
}
