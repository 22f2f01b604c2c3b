// The platforms by their words, those without a file of their own included: their ids are reserved from the first day.

export const platformKinds = ["xmpp", "slack", "discord", "matrix", "webhook", "ntfy", "web-push"] as const;

export type PlatformKind = (typeof platformKinds)[number];
