// Somebody as people call them. Ids say more: which page, which bridge, which key; that stands beside the name, not in
// it. Pure.

export interface Person {
  readonly name: string;
  /** Where they speak from; empty where the id is the name. */
  readonly via: string;
}

export function personOf(id: string): Person {
  const page = /^(.{1,100})@console\.[a-z0-9]{1,8}$/.exec(id)?.[1] ?? /^console:(.{1,100})$/.exec(id)?.[1];
  if (page !== undefined) return { name: page, via: "console" };
  const key = /^(.{1,100})-browser-[0-9a-f]{4}$/.exec(id)?.[1];
  return key === undefined ? { name: id, via: "" } : { name: key, via: "browser key" };
}

/** In a sentence. */
export function personText(id: string): string {
  const { name, via } = personOf(id);
  return via === "" ? name : `${name} (${via})`;
}

/** One of so many colours, the same for everything one person does. */
export function colourOf(id: string, colours: number): number {
  let hash = 0;
  for (const sign of personOf(id).name) hash = (hash * 31 + (sign.codePointAt(0) ?? 0)) % 1_000_003;
  return hash % colours;
}
