// `mcpx migrate --from sqlite --to postgres://…`: all state of a data directory, moved to PostgreSQL or back.

import { configOptions } from "../../config/read-config-file.ts";
import { type Context, defineCommand } from "../../framework/command.ts";

const options = {
  ...configOptions,
  from: { type: "string", value: "WHERE", about: "where the state is: sqlite or postgres" },
  to: {
    type: "string",
    value: "WHERE",
    about: "where it shall be: sqlite, postgres (the configuration's store), or an address, postgres://…",
  },
} as const;

export type MigrateContext = Context<typeof options>;

export const migrate = defineCommand({
  usage: "--from WHERE --to WHERE",
  words: { min: 0, max: 0 },
  options,
  examples: [
    ["mcpx migrate --from sqlite --to postgres", "to the store that mcpx.json names"],
    ["mcpx migrate --from sqlite --to 'postgres://mcpx:${env:PW}@db/mcpx'", "to this one"],
    ["mcpx migrate --from postgres --to sqlite", "and back"],
  ],
  async run(context) {
    const { runMigrate } = await import("../../migrate/run-migrate.ts");
    return runMigrate(context);
  },
});
