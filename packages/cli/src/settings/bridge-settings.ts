// From the configuration to the bridges. Secrets are filled in when they are used, so that they can be replaced meanwhile.
import { hash } from "node:crypto";
import {
  createDiscordPlatform,
  createMatrixPlatform,
  createNtfyPlatform,
  createSlackPlatform,
  createWebhookPlatform,
  createXmppPlatform,
  type Platform,
  type PlatformKind,
} from "@mcpx/bridges";
import { canonicalJson } from "@mcpx/protocol";
import type { Config } from "../config/config.ts";
import { type FillInFrom, fillIn } from "../files/fill-in.ts";

export interface BridgeSettings {
  name: string;
  kind: PlatformKind;
  /** Which room each channel carries. */
  channels: ReadonlyMap<string, string>;
  unlinked: "read" | "guest";
  /** What it reaches, as an approver signs it. */
  reach: string;
  /** Nothing is reached yet. */
  open(): Platform;
}

export type BridgeEntry = NonNullable<Config["bridges"]>[string];

export function bridgeSettings({ bridges = {} }: Config, world: FillInFrom): BridgeSettings[] {
  return Object.entries(bridges)
    .filter(([, { disabled }]) => disabled !== true)
    .map(([name, entry]) => ({
      name,
      kind: entry.platform,
      channels: new Map(Object.entries(entry.channels)),
      unlinked: entry.unlinked ?? "read",
      reach: reachOfBridge(entry),
      open: () => openPlatform(entry, world),
    }));
}

/** What the bridge reaches, without what is secret: by another address it could be told anything. */
export function reachOfBridge({ platform, service, domain, component, username, url }: BridgeEntry): string {
  const facts = JSON.parse(JSON.stringify({ platform, service, domain, component, username, url }));
  return `sha256:${hash("sha256", canonicalJson(facts), "base64url")}`;
}

function openPlatform(entry: BridgeEntry, world: FillInFrom): Platform {
  const {
    platform,
    channels,
    service = "",
    username = "",
    password = "",
    url = "",
    secret = "",
    token,
    appToken = "",
    hsToken = "",
    listen = "",
  } = entry;
  const access = () => fillIn(token ?? "", world);
  switch (platform) {
    case "xmpp":
      return createXmppPlatform({
        service,
        domain: entry.domain ?? URL.parse(service)?.hostname ?? "",
        username,
        isComponent: entry.component,
        password: () => fillIn(password, world),
        nick: entry.nick ?? username,
        channels: Object.keys(channels),
      });
    case "slack":
      return createSlackPlatform({
        botToken: access,
        appToken: () => fillIn(appToken, world),
        apiUrl: entry.url,
      });
    case "discord":
      return createDiscordPlatform({ token: access, apiUrl: entry.url });
    case "matrix":
      return createMatrixPlatform({
        homeserver: url,
        asToken: access,
        hsToken: () => fillIn(hsToken, world),
        listen: hostAndPort(listen),
        channels: Object.keys(channels),
      });
    case "webhook":
      return createWebhookPlatform({ url, secret: () => fillIn(secret, world) });
    case "ntfy":
      return createNtfyPlatform({ url, ...(token !== undefined && { token: access }) });
  }
}

function hostAndPort(text: string): { host: string; port: number } {
  const [host = "", port = ""] = text.split(":");
  return { host, port: Number(port) };
}
