// Names nobody can guess, in letters and digits that nobody confuses.
import { randomBytes } from "node:crypto";

/** Without i, l, o and u. */
const alphabet = "0123456789abcdefghjkmnpqrstvwxyz";

/** Five bits a character. */
export function newId(chars = 16): string {
  return [...randomBytes(chars)].map((byte) => alphabet[byte & 31]).join("");
}
