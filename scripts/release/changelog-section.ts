// The part of the changelog that belongs to one version.

export interface ChangelogSection {
  /** As it stands behind the version: a date, or `unreleased`. */
  readonly released: string;
  readonly text: string;
}

export function sectionOf(changelog: string, version: string): ChangelogSection | undefined {
  const lines = changelog.split("\n");
  const isHeading = (line: string) => line.startsWith("## ");
  const begin = lines.findIndex((line) => isHeading(line) && line.split(/\s+/)[1] === version);
  if (begin === -1) return undefined;
  const length = lines.slice(begin + 1).findIndex(isHeading);
  const text = lines
    .slice(begin + 1, length === -1 ? undefined : begin + 1 + length)
    .join("\n")
    .trim();
  const released = (lines[begin] ?? "").replace(/^## \S+\s*[–-]?\s*/, "");
  return text === "" ? undefined : { released, text: `${text}\n` };
}
