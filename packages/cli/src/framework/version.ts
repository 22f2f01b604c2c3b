// The version of this package, of which there is one for all.
import { readFileSync } from "node:fs";

const description = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8")) as {
  version: string;
};

export const version = description.version;
