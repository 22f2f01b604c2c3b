// `mcpx capabilities revoke ID`: the gateway refuses the next call with it, and the room is told.
import type { JsonObject } from "@mcpx/protocol";
import { type Context, defineCommand, gatewayOptions } from "../../framework/command.ts";
import { Failure, misuse } from "../../framework/failure.ts";
import { withIdPrefix } from "../../framework/id-prefix.ts";
import { visible } from "../../framework/visible.ts";
import { adminCall, objects } from "../../gates/gate-access.ts";

const options = {
  ...gatewayOptions,
  room: { type: "string", values: "room", value: "ROOM", about: "the room it was given in" },
  owner: { type: "string", value: "NAME", about: "who gave it" },
} as const;

export const capabilitiesRevoke = defineCommand({
  usage: "ID [--room ROOM] [--owner NAME]",
  words: { min: 1, max: 1 },
  options,
  examples: [
    ["mcpx capabilities revoke 6f0e", "a prefix of the id is enough"],
    [
      "mcpx capabilities revoke 6f0e1c52-… --room kitchen --owner oven",
      "a capability that the gateway has not seen",
    ],
  ],
  run,
});

async function run(context: Context<typeof options>): Promise<number> {
  const { options, output } = context;
  const call = adminCall(context);
  const { topic, issuer, id } = chosenOf(context, objects((await call("GET", "/capabilities")).capabilities));
  const path = [topic, issuer, id].map((part) => encodeURIComponent(String(part))).join("/");
  const answer = await call("DELETE", `/capabilities/${path}`);
  if (options.json) output.json(answer);
  else
    output.line(`revoked ${visible(String(id))} of ${visible(String(issuer))} in ${visible(String(topic))}`);
  return 0;
}

/** The one that fits or, with room and owner, whatever is named. */
function chosenOf(context: Context<typeof options>, seen: readonly JsonObject[]): JsonObject {
  const [id = ""] = context.words;
  const { room, owner } = context.options;
  const here = seen.filter(
    ({ topic, issuer }) =>
      (room === undefined || topic === room) && (owner === undefined || issuer === owner),
  );
  const whole = here.filter((one) => one.id === id);
  const begun = withIdPrefix(id, here, (one) => String(one.id));
  const [first, second] = whole.length > 0 ? whole : begun;
  if (second !== undefined)
    throw misuse(
      `several capabilities start with ${id}`,
      "write more characters of the id, or give --room and --owner",
    );
  if (first !== undefined) return first;
  if (room !== undefined && owner !== undefined) return { topic: room, issuer: owner, id };
  throw new Failure(`no capability ${id} was seen`, "see mcpx capabilities, or give --room and --owner");
}
