// Addresses of the tree: tools, servers, devices and bridges; and of logins at the console.
import { z } from "zod";
import { type Address, anything, count, id, level, texts, time } from "./address.ts";

const admin = "admin" as const;
const here = "here" as const;

const frame = z.strictObject({
  number: count,
  at: time,
  from: z.enum(["device", "gateway"]),
  read: z.boolean().describe("Whether it could be read"),
  text: z.string(),
  bytes: z.string().describe("In hexadecimal, the first 128"),
});

const tool = {
  canonical: z.string().describe("The tool's name in the tree"),
  server: z.string(),
  tool: z.string().describe("The server's own name for the tool"),
  state: z.enum(["listed", "disabled", "quarantined"]),
};

const consent = z.looseObject({ id: z.string() });

const bridge = z.strictObject({
  name: z.string(),
  platform: z.string(),
  unlinked: z.enum(["read", "guest"]),
  isNotice: z.boolean(),
  state: z.enum(["starting", "up", "down"]),
  fault: z.string().optional(),
  channels: z.array(
    z.strictObject({ channel: z.string(), room: id, behind: count, fault: z.string().optional() }),
  ),
  links: z.array(
    z.strictObject({
      ...{ user: z.string(), participant: id, level: level.optional(), since: time, presses: z.boolean() },
    }),
  ),
});

export const tree: readonly Address[] = [
  {
    ...{ method: "GET", path: "/admin/tools", access: admin },
    summary: "Tools that clients are not shown, and why",
    answer: z.strictObject({ tools: z.array(z.strictObject(tool)) }),
  },
  {
    ...{ method: "GET", path: "/admin/tools/:name", access: admin },
    summary: "One tool; of a changed tool, the difference too",
    answer: z.strictObject({
      ...tool,
      ...{ hash: z.string().optional(), since: time.optional(), diff: texts.optional() },
    }),
  },
  {
    ...{ method: "POST", path: "/admin/tools/:name/accept", access: here },
    summary: "Accept a changed tool as it is now",
    body: z.strictObject({
      hash: z
        .string()
        .optional()
        .describe("The hash of the definition to accept; refused if the tool has changed since"),
    }),
    answer: z.strictObject({
      ...{ canonical: z.string(), server: z.string(), tool: z.string() },
      ...{ hash: z.string(), acceptedBy: z.string().optional() },
    }),
  },
  {
    ...{ method: "GET", path: "/admin/servers/:name/log", access: admin },
    summary: "The last lines a server wrote to stderr",
    answer: z.strictObject({
      server: z.string(),
      lines: z.array(z.strictObject({ at: time, line: z.string() })),
    }),
  },
  {
    ...{ method: "GET", path: "/admin/servers/:name/users", access: admin },
    summary: "Who has signed in to a server",
    answer: z.strictObject({ server: z.string(), users: texts }),
  },
  {
    ...{ method: "DELETE", path: "/admin/servers/:name/users/:user", access: admin },
    summary: "Sign a user out of a server",
    answer: z.strictObject({ server: z.string(), user: z.string(), signedOutBy: z.string().optional() }),
  },
  {
    ...{ method: "GET", path: "/admin/devices", access: admin, summary: "Microcontrollers and their state" },
    answer: z.strictObject({ devices: z.array(z.looseObject({ segment: z.string(), line: z.string() })) }),
  },
  {
    ...{ method: "GET", path: "/admin/devices/:segment/frames", access: admin },
    summary: "What goes over the line of a device, while somebody asks",
    query: { after: { schema: count, about: "Only higher numbers; none yet unless given" } },
    answer: z.strictObject({ frames: z.array(frame), last: count }),
  },
  {
    ...{ method: "POST", path: "/admin/devices/probe", access: here },
    summary: "Who is on a line of the gateway's machine; nothing is called",
    body: z.strictObject({
      line: z.string().min(1).max(500),
      username: z.string().optional(),
      password: z.string().optional(),
    }),
    answer: z.strictObject({ line: z.string(), found: anything.nullable(), entry: anything.nullable() }),
  },
  {
    ...{ method: "GET", path: "/admin/bridges", access: admin, summary: "Bridges to chat platforms" },
    answer: z.strictObject({ bridges: z.array(bridge) }),
  },
  {
    ...{ method: "POST", path: "/admin/bridges/:name/codes", access: here },
    summary: "Make a code that links a person of a chat platform to a participant",
    body: z.strictObject({ participant: id, level: level.optional() }),
    status: 201,
    answer: z.strictObject({ code: z.string(), expires_at: time }),
  },
  {
    ...{ method: "DELETE", path: "/admin/bridges/:name/links/:user", access: admin },
    summary: "Unlink a person of a chat platform",
    answer: z.strictObject({ user: z.string(), participant: id }),
  },
  {
    ...{ method: "POST", path: "/admin/bridges/:name/presses", access: here },
    summary: "Presses of linked approvers count as approvals, once an approver has signed that",
    answer: z.strictObject({ what: texts, waits: z.string().nullable() }),
  },
  {
    ...{ method: "DELETE", path: "/admin/bridges/:name/presses", access: admin },
    summary: "Presses of buttons at this bridge are no longer approvals",
    answer: z.strictObject({ what: texts }),
  },
  {
    ...{ method: "GET", path: "/admin/consents", access: admin },
    summary: "Programs that a person allowed through the browser",
    answer: z.strictObject({ consents: z.array(consent) }),
  },
  {
    ...{ method: "DELETE", path: "/admin/consents/:id", access: admin, summary: "Revoke a consent" },
    answer: consent,
  },
  {
    ...{ method: "GET", path: "/admin/logins", access: admin },
    summary: "The names of the configured company logins",
    answer: z.strictObject({ logins: texts }),
  },
  {
    ...{ method: "POST", path: "/admin/logins/test", access: admin },
    summary: "The rights that these claims of a provider would give",
    body: z.strictObject({ login: z.string(), claims: anything }),
    answer: z.strictObject({ login: z.string(), rights: anything.nullable(), rules: z.array(z.unknown()) }),
  },
  {
    ...{ method: "POST", path: "/admin/console-links", access: admin },
    summary: "Make an address that logs one browser in at the console, once",
    status: 201,
    answer: z.strictObject({ path: z.string() }),
  },
  {
    ...{ method: "POST", path: "/admin/console-logouts", access: admin },
    summary: "Log everybody out of the console",
    answer: z.strictObject({}),
  },
  {
    ...{ method: "GET", path: "/admin/names", access: here },
    summary: "Names to complete a command line with, for the owner of the data directory",
    query: {
      of: { schema: z.string(), about: "The kind of name" },
      room: { schema: id, about: "The room whose names are wanted" },
    },
    answer: z.strictObject({ names: texts }),
  },
];
