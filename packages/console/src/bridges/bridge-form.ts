// What each platform needs, as the page asks for it; and how a bridge is shown. Pure.
import type { JsonObject } from "@mcpx/protocol";

export interface BridgeField {
  readonly key:
    | "service"
    | "component"
    | "domain"
    | "username"
    | "password"
    | "nick"
    | "url"
    | "secret"
    | "token"
    | "appToken"
    | "hsToken"
    | "listen";
  readonly label: string;
  readonly example: string;
  readonly isSecret?: boolean;
  readonly isOptional?: boolean;
  /** Ticked, or not there. */
  readonly isFlag?: boolean;
  /** Few people need it. */
  readonly isRare?: boolean;
  /** It is needed where this one is ticked. */
  readonly neededWith?: BridgeField["key"];
}

interface PlatformForm {
  readonly label: string;
  /** What a channel is called there. */
  readonly channel: string;
  /** Who is not linked there may speak as a guest. */
  readonly hasPeople: boolean;
  readonly fields: readonly BridgeField[];
}

const secret = (key: BridgeField["key"], label: string, name: string): BridgeField => ({
  ...{ key, label, example: `\${env:${name}}`, isSecret: true },
});

const api = (example: string): BridgeField => ({
  ...{ key: "url", label: "Address of its API", example, isOptional: true, isRare: true },
});

export const platformForms: Readonly<Record<string, PlatformForm>> = {
  slack: {
    ...{ label: "Slack", channel: "C0123456789", hasPeople: true },
    fields: [
      secret("token", "Bot token (xoxb-…)", "SLACK_TOKEN"),
      secret("appToken", "App-level token (xapp-…)", "SLACK_APP_TOKEN"),
      api("https://slack.com/api/"),
    ],
  },
  discord: {
    ...{ label: "Discord", channel: "1234567890123456789", hasPeople: true },
    fields: [secret("token", "Bot token", "DISCORD_TOKEN"), api("https://discord.com/api")],
  },
  matrix: {
    ...{ label: "Matrix", channel: "!abc:example.com", hasPeople: true },
    fields: [
      { key: "url", label: "Homeserver", example: "https://matrix.example.com" },
      { key: "listen", label: "Where it brings events to", example: "127.0.0.1:9009" },
      secret("token", "as_token", "MATRIX_AS_TOKEN"),
      secret("hsToken", "hs_token", "MATRIX_HS_TOKEN"),
    ],
  },
  xmpp: {
    ...{ label: "XMPP", channel: "ops@muc.example.com", hasPeople: true },
    fields: [
      {
        key: "component",
        label: "As a component of the server, not with an account",
        example: "",
        isFlag: true,
      },
      { key: "service", label: "Server", example: "xmpps://chat.example.com:5223" },
      {
        ...{ key: "domain", label: "Domain of the account, or the component's own address" },
        ...{ example: "example.com", isOptional: true, neededWith: "component" },
      },
      { key: "username", label: "Account, or the component's user", example: "mcpx" },
      secret("password", "Password, or the component's secret", "XMPP_PASSWORD"),
      { key: "nick", label: "Name in chats", example: "mcpx", isOptional: true, isRare: true },
    ],
  },
  ntfy: {
    ...{ label: "ntfy: a notification on the phone", channel: "mcpx-7k2mw0qz4r", hasPeople: false },
    fields: [
      { key: "url", label: "Server", example: "https://ntfy.sh" },
      { ...secret("token", "Access token, where topics are protected", "NTFY_TOKEN"), isOptional: true },
    ],
  },
  webhook: {
    ...{ label: "Webhook: a signed POST", channel: "pager", hasPeople: false },
    fields: [
      { key: "url", label: "Address", example: "https://example.com/hook" },
      secret("secret", "Secret (whsec_…)", "WEBHOOK_SECRET"),
    ],
  },
};

export interface BridgeDraft {
  readonly name: string;
  readonly platform: string;
  readonly channel: string;
  readonly room: string;
  readonly isForGuests: boolean;
  readonly values: Readonly<Record<string, string>>;
}

/** Whether the form cannot be sent without it. */
export function isNeeded(
  { isFlag, isOptional, neededWith }: BridgeField,
  values: BridgeDraft["values"],
): boolean {
  if (isFlag === true) return false;
  return neededWith === undefined ? !isOptional : (values[neededWith] ?? "") !== "";
}

/** Only what the platform uses, and only what was given. */
export function bridgeChange({
  name,
  platform,
  channel,
  room,
  isForGuests,
  values,
}: BridgeDraft): JsonObject {
  const { fields = [], hasPeople = false } = platformForms[platform] ?? {};
  const given = fields.flatMap(({ key, isFlag }) => {
    const value = values[key]?.trim() ?? "";
    return value === "" ? [] : [[key, isFlag ? true : value]];
  });
  const entry = {
    platform,
    channels: { [channel.trim()]: room.trim() },
    ...Object.fromEntries(given),
    ...(hasPeople && isForGuests && { unlinked: "guest" }),
  };
  return { type: "bridge", name: name.trim(), entry };
}
