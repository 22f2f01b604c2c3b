// `mcpx bridge add NAME --platform P --channel CHANNEL=ROOM …`: a bridge into the configuration.
import { type Context, configOption, dataOption, defineCommand } from "../../framework/command.ts";
import { Failure, misuse } from "../../framework/failure.ts";
import { shortPath, showDiff } from "../../framework/show-change.ts";

export const bridgePlatforms = ["xmpp", "slack", "discord", "matrix", "webhook", "ntfy"] as const;

const options = {
  platform: { type: "string", values: bridgePlatforms, value: "PLATFORM", about: bridgePlatforms.join(", ") },
  channel: {
    type: "string",
    multiple: true,
    value: "CHANNEL=ROOM",
    about: "a channel and the room it carries",
  },
  unlinked: {
    type: "string",
    values: ["read", "guest"],
    value: "HOW",
    about: "people who are not linked: read or guest",
  },
  service: { type: "string", value: "URL", about: "xmpp: the server, xmpps://HOST:PORT" },
  domain: { type: "string", value: "NAME", about: "xmpp: of the account (default: the server's name)" },
  component: { type: "boolean", about: "xmpp: a component of the server, with --domain as its address" },
  username: { type: "string", value: "NAME", about: "xmpp: the bridge's own account" },
  password: { type: "string", value: "TEXT", about: "xmpp: its password, better as '${env:NAME}'" },
  nick: { type: "string", value: "NAME", about: "xmpp: its name in chats (default: the account)" },
  address: { type: "string", value: "URL", about: "webhook, ntfy: where to send to; matrix: the homeserver" },
  secret: {
    type: "string",
    value: "TEXT",
    about: "webhook: whsec_ and a key in base64, better as '${env:NAME}'",
  },
  access: {
    type: "string",
    value: "TOKEN",
    about:
      "slack, discord: the bot's token; matrix: as_token; ntfy: an access token; better as '${env:NAME}'",
  },
  "app-access": {
    type: "string",
    value: "TOKEN",
    about: "slack: the app-level token, better as '${env:NAME}'",
  },
  "hs-access": { type: "string", value: "TOKEN", about: "matrix: hs_token, better as '${env:NAME}'" },
  listen: { type: "string", value: "HOST:PORT", about: "matrix: where the homeserver brings events to" },
  replace: { type: "boolean", about: "take the place of the bridge of that name" },
  ...configOption,
  ...dataOption,
} as const;

export const bridgeAdd = defineCommand({
  usage: "NAME --platform PLATFORM --channel CHANNEL=ROOM …",
  words: { min: 1, max: 1 },
  options,
  examples: [
    [
      "mcpx bridge add team --platform xmpp --service xmpps://chat.example.com:5223 --username bridge \\\n      --password '${env:XMPP_PASSWORD}' --channel ops@muc.example.com=ops",
      "the room ops as a chat of an XMPP server",
    ],
    [
      "mcpx bridge add team --platform slack --access '${env:SLACK_TOKEN}' --app-access '${env:SLACK_APP_TOKEN}' \\\n      --channel C0123456789=ops",
      "the room ops as a channel of Slack",
    ],
    [
      "mcpx bridge add phone --platform ntfy --address https://ntfy.sh --channel my-secret-topic=ops",
      "a notification for everything that waits",
    ],
  ],
  run,
});

async function run(context: Context<typeof options>): Promise<number> {
  const { options, output, words } = context;
  const [name = ""] = words;
  if (options.platform === undefined)
    throw misuse("--platform is missing", `write one of ${bridgePlatforms.join(", ")}`);
  const { openConfig, saveConfig, withBridge } = await import("../../config-edit/edit-config.ts");
  const { secretsOfChange } = await import("../../config-edit/plan-servers.ts");
  const file = openConfig(context);
  const isThere = Object.hasOwn(file.config.bridges ?? {}, name);
  if (isThere && !options.replace) {
    const fix = "replace it with --replace, or choose another name";
    throw new Failure(`there is a bridge ${name} in ${file.path} already`, fix);
  }
  const text = withBridge(file, name, entryOf(options));
  const { backup } = saveConfig(file, text, new Date());
  if (options.json) {
    output.json({ name, file: file.path, backup: backup ?? null, replaced: isThere });
    return 0;
  }
  output.line(`${isThere ? "replaced" : "added"} the bridge ${name} in ${shortPath(file.path, context)}`);
  showDiff(context, file.before?.text ?? "", text, secretsOfChange(file, text));
  output.note(`mcpx: the bridge starts with the next ${context.program} up`);
  return 0;
}

function entryOf({
  platform,
  channel,
  unlinked,
  address,
  access,
  ...given
}: Context<typeof options>["options"]): object {
  const { service, domain, component, username, password, nick, secret, listen } = given;
  const more = {
    ...{ unlinked, service, domain, username, password, nick, url: address, secret, token: access, listen },
    ...(component && { component }),
    ...{ appToken: given["app-access"], hsToken: given["hs-access"] },
  };
  const set = Object.entries(more).filter(([, value]) => value !== undefined);
  return { platform, channels: Object.fromEntries(channel.map(readChannel)), ...Object.fromEntries(set) };
}

/** A room has no `=` in its name; a channel may. */
function readChannel(text: string): [string, string] {
  const at = text.lastIndexOf("=");
  if (at > 0 && at < text.length - 1) return [text.slice(0, at), text.slice(at + 1)];
  throw misuse(`invalid value "${text}" for --channel`, "write CHANNEL=ROOM, for example general=ops");
}
