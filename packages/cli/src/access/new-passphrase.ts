// A passphrase for a key, typed twice at the terminal.
import { passphraseCharsMin } from "../files/sealed-key.ts";
import type { Surroundings } from "../framework/command.ts";
import { Failure } from "../framework/failure.ts";

export async function newPassphrase(
  { askSecret }: Pick<Surroundings, "askSecret">,
  path: string,
): Promise<string> {
  const passphrase = await askSecret(
    `New passphrase for ${path} (at least ${passphraseCharsMin} characters)`,
  );
  if ([...passphrase].length < passphraseCharsMin) {
    throw new Failure(`a passphrase has at least ${passphraseCharsMin} characters`, "nothing was written");
  }
  const again = await askSecret("Repeat the passphrase");
  if (again !== passphrase) throw new Failure("the two passphrases differ", "nothing was written");
  return passphrase;
}
