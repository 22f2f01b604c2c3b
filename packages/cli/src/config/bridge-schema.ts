// A bridge of `bridges`: the keys of each platform, and which of them it cannot do without.
import { z } from "zod";
import * as is from "./config-values.ts";
import { byName, section } from "./sections.ts";

/** What each platform needs, and may have. */
export const bridgeKeys = {
  xmpp: { needed: ["service", "username", "password"], more: ["domain", "component", "nick", "unlinked"] },
  slack: { needed: ["token", "appToken"], more: ["url", "unlinked"] },
  discord: { needed: ["token"], more: ["url", "unlinked"] },
  matrix: { needed: ["url", "token", "hsToken", "listen"], more: ["unlinked"] },
  webhook: { needed: ["url", "secret"], more: [] },
  ntfy: { needed: ["url"], more: ["token"] },
} as const satisfies Record<string, { needed: readonly string[]; more: readonly string[] }>;

const builtPlatforms = Object.keys(bridgeKeys) as (keyof typeof bridgeKeys)[];

/** Rooms on a chat platform, or on phones. */
export const bridge = section({
  platform: is.oneOf(builtPlatforms),
  channels: byName(z.string().min(1).max(256), is.roomName),
  unlinked: is.oneOf(["read", "guest"]).exactOptional(),
  service: is.xmppService.exactOptional(),
  domain: is.hostName.exactOptional(),
  username: is.text("an account's name", "mcpx").exactOptional(),
  password: is.text("a password", "${env:XMPP_PASSWORD}").exactOptional(),
  component: is.flag.exactOptional(),
  nick: is.text("a nickname", "mcpx").exactOptional(),
  url: is.serverUrl.exactOptional(),
  secret: is.text("a secret", "${env:WEBHOOK_SECRET}").exactOptional(),
  token: is.text("a token", "${env:SLACK_TOKEN}").exactOptional(),
  appToken: is.text("an app-level token", "${env:SLACK_APP_TOKEN}").exactOptional(),
  hsToken: is.text("the homeserver's token", "${env:MATRIX_HS_TOKEN}").exactOptional(),
  listen: is.hostPort.exactOptional(),
  disabled: is.flag.exactOptional(),
}).check(({ value, issues }) => {
  const add = (message: string) => issues.push({ code: "custom", message, input: value, path: [] });
  const { needed, more } = bridgeKeys[value.platform];
  const known = ["platform", "channels", "disabled", ...needed, ...more];
  for (const key of needed) {
    if (value[key as keyof typeof value] === undefined)
      add(`needs ${key} for the platform ${value.platform}`);
  }
  for (const key of Object.keys(value)) {
    if (!known.includes(key)) add(`has ${key}, which the platform ${value.platform} does not use; remove it`);
  }
  if (value.component === true && value.domain === undefined)
    add("needs domain, the component's own address, for component");
  if (Object.keys(value.channels).length === 0) add("has no channels; name at least one with its room");
});
