// A copy of a directory whose state is elsewhere would be a backup of next to nothing.
import { readStoreAddress } from "../files/open-store.ts";
import { type Home, readStatePlace } from "../files/state-place.ts";
import { Failure } from "../framework/failure.ts";
import { shellWord } from "../framework/show-change.ts";

/** Throws where the state is in PostgreSQL, and says what makes a backup of that. */
export async function checkInFiles(home: Home): Promise<void> {
  const place = readStatePlace(home.dataDir);
  if (place === undefined) return;
  const { hosts, database, schema } = (await readStoreAddress(home, place)).parts;
  const { host = "", port = "" } = hosts[0] ?? {};
  const words = ["pg_dump", "-h", host, "-p", `${port}`, "-n", schema, "-Fc", "-f", "mcpx.dump", database];
  throw new Failure(
    `the state of ${home.dataDir} is in PostgreSQL, which has backups of its own`,
    `use ${words.map(shellWord).join(" ")}, and copy ${home.dataDir}: its store.key opens the secrets in that`,
  );
}
