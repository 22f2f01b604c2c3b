// Every view of the console, and how one gets there: an address, then what is pressed.
import type { Page } from "playwright-core";

export interface View {
  readonly name: string;
  readonly path: string;
  /** What tells that it is there. */
  readonly shows: string;
  press?(page: Page): Promise<unknown>;
}

const button = (page: Page, name: string | RegExp) => page.getByRole("button", { name }).first().click();
const openCard = async (page: Page, tool: string) => {
  if ((await page.locator("article.open").filter({ hasText: tool }).count()) > 0) return;
  await page
    .getByRole("article", { name: new RegExp(tool) })
    .locator(".title")
    .click();
};
const room = "/console/rooms/bakery";
const sheet = ".sheet h2";

/** `gate`: the id of one that waits. */
export function viewsOf(gate: string): readonly View[] {
  const onCard = { path: room, shows: "article.open" };
  const grantCard = (page: Page) =>
    openCard(page, "office.shred").then(() => button(page, /^Allow for a while/));
  return [
    { name: "room", ...onCard, press: (page) => openCard(page, "heat") },
    { name: "sequence", path: `${room}?picture=sequence`, shows: ".sequence svg" },
    { name: "card-of-a-gate", ...onCard, press: (page) => openCard(page, "office.shred") },
    { name: "gate", path: `/console/gates/${gate}`, shows: ".sheet article" },
    { name: "approve", ...onCard, press: (page) => button(page, /^Approve …/) },
    { name: "edit", ...onCard, press: (page) => openCard(page, "heat").then(() => button(page, /^Edit …/)) },
    { name: "reject", ...onCard, press: (page) => button(page, /^Reject …/) },
    { name: "grant", ...onCard, press: grantCard },
    { name: "tool", path: "/console/tools/library.look", shows: sheet },
    {
      name: "tool-edit",
      path: "/console/tools/library.look",
      shows: sheet,
      press: (page) => button(page, /^Edit …/),
    },
    { name: "topology", path: "/console/topology", shows: ".picture .node" },
    { name: "decisions", path: "/console/decisions", shows: ".sheet table" },
    { name: "metrics", path: "/console/metrics", shows: ".charts figure" },
    { name: "audit", path: "/console/audit", shows: ".sheet td .link" },
    { name: "rules", path: "/console/rules", shows: sheet },
    {
      name: "allow",
      path: "/console/rules",
      shows: sheet,
      press: (page) => button(page, /^Allow beforehand/),
    },
    { name: "rule", path: "/console/rules", shows: sheet, press: (page) => button(page, /^Add a rule/) },
    { name: "approvers", path: "/console/approvers", shows: sheet },
    { name: "tokens", path: "/console/tokens", shows: sheet },
    {
      name: "rotate",
      path: "/console/tokens",
      shows: sheet,
      press: (page) => button(page, /^Rotate the signing key/),
    },
    { name: "servers", path: "/console/servers", shows: sheet },
    { name: "server", path: "/console/servers/library", shows: ".sheet article" },
    { name: "bridges", path: "/console/bridges", shows: sheet },
    {
      name: "add-a-bridge",
      path: "/console/bridges",
      shows: sheet,
      press: (page) =>
        button(page, /^Add a bridge/).then(() =>
          page.getByRole("combobox", { name: "Platform" }).selectOption("xmpp"),
        ),
    },
    { name: "devices", path: "/console/devices", shows: sheet },
    { name: "backups", path: "/console/backups", shows: sheet },
    {
      name: "add-a-server",
      path: "/console/servers",
      shows: sheet,
      press: (page) => button(page, /^Add a server/),
    },
    { name: "find", ...onCard, press: (page) => page.keyboard.press("Control+k") },
    { name: "shortcuts", ...onCard, press: (page) => page.keyboard.press("?") },
    { name: "approval-page", path: `/approve/${gate}`, shows: "article" },
  ];
}

/** The same console before anything is there, and for who is not let in. */
export const emptyViews: readonly View[] = [
  { name: "nothing-yet", path: "/", shows: ".columns" },
  { name: "no-decisions", path: "/console/decisions", shows: sheet },
  { name: "no-metrics", path: "/console/metrics", shows: ".charts figure" },
  { name: "no-servers", path: "/console/servers", shows: sheet },
  { name: "no-such-room", path: "/console/rooms/made-up", shows: ".columns" },
];
export const login: View = { name: "login", path: "/console/audit", shows: "main" };
