// What a server can list.
export const listKinds = ["tools", "prompts", "resources", "templates"] as const;
export type ListKind = (typeof listKinds)[number];
