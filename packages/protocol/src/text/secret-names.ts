// Which names of values say that they are secret. Pure.

/** The last word of a name, or the last two, say that it is a secret; `max_tokens` and `author` do not. */
const lastWords = new Set([
  ...["password", "passwd", "passphrase", "passcode", "pwd", "pass", "secret", "secrets", "token", "apikey"],
  ...["credential", "credentials", "authorization", "cookie", "bearer", "jwt", "otp", "pat", "dsn"],
]);
const lastPairs = new Set([
  ...["api key", "access key", "private key", "secret key", "signing key", "encryption key", "auth key"],
  ...["connection string", "set cookie", "pin code", "security code", "card number"],
]);
export function isSecretName(name: string): boolean {
  const words = name
    .slice(-128)
    .replace(/([a-z0-9])([A-Z])/g, "$1 $2")
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter((word) => word !== "");
  const last = words.at(-1) ?? "";
  // `PGPASSWORD`, `dbpasswd`
  if (/(?:password|passwd|passphrase|apikey)$/.test(last)) return true;
  return lastWords.has(last) || lastPairs.has(words.slice(-2).join(" "));
}
