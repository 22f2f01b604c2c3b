// What looks like a secret, and texts that are shown without them. Pure.

const names = /token|secret|passw|passphrase|api_?-?key|auth|credential|private|bearer|cookie|session|dsn/i;
const keyName = /(^|[_-])(key|pwd|pat|pass)$/i;
const marks = /^(sk-|pk_|rk_|gh[oprsu]_|github_pat_|glpat-|xox[a-z]-|AKIA|AIza|ya29\.|eyJ|npm_|hf_|lin_api_)/;
const hidden = "•••";

export function isSecretName(name: string): boolean {
  return names.test(name) || keyName.test(name);
}

/** Known beginnings, and long runs that no person has typed. References to somewhere else are none. */
export function isSecretValue(value: string): boolean {
  if (marks.test(value)) return true;
  return (
    /^[A-Za-z0-9_+/=.-]{32,}$/.test(value) && /[0-9]/.test(value) && /[A-Za-z]/.test(value) && !isPath(value)
  );
}

interface Holder {
  args?: readonly string[] | undefined;
  env?: Readonly<Record<string, string>> | undefined;
  headers?: Readonly<Record<string, string>> | undefined;
  url?: string | undefined;
}

/** The values of a server's entry that must not be shown. */
export function secretsOf({ args = [], env = {}, headers = {}, url }: Holder): string[] {
  const found = [...Object.entries(env), ...Object.entries(headers)]
    .filter(([name, value]) => isSecret(name, value))
    // What is before the last word of a header says how it is meant.
    .map(([, value]) => value.replace(/^(bearer|basic|token) +/i, ""));
  args.forEach((arg, index) => {
    const before = args[index - 1] ?? "";
    const { name, value } = splitArgument(arg);
    const isNamed = before.startsWith("-") && !before.includes("=") && isSecretName(before);
    if (isNamed && !arg.startsWith("-")) found.push(arg);
    else if (isSecret(name, value)) found.push(value);
    else found.push(...urlSecrets(value));
  });
  return [...found, ...urlSecrets(url ?? "")].filter((value) => value.length > 0);
}

/** A text, JSON or not, without those values. */
export function hideSecrets(text: string, secrets: readonly string[]): string {
  return [...secrets]
    .sort((a, b) => b.length - a.length)
    .flatMap((secret) => [JSON.stringify(secret).slice(1, -1), secret])
    .reduce((shown, secret) => shown.replaceAll(secret, hidden), text);
}

function isSecret(name: string, value: string): boolean {
  if (value === "" || /\$\{[a-z]+:[^}]+\}$/.test(value) || /^(true|false|[0-9]{1,6})$/i.test(value))
    return false;
  return isSecretName(name) || isSecretValue(value);
}

/** `--key=value` and `KEY=value`; else all of it is the value. */
function splitArgument(arg: string): { name: string; value: string } {
  const [, name = "", value = arg] = /^([A-Za-z0-9_-]{1,64})=(.*)$/s.exec(arg) ?? [];
  return { name, value };
}

function urlSecrets(text: string): string[] {
  const url = /^[a-z][a-z0-9+.-]*:\/\//i.test(text) ? URL.parse(text) : null;
  if (url === null) return [];
  const query = [...url.searchParams]
    .filter(([name, value]) => isSecret(name, value))
    .map(([, value]) => value);
  const parts = url.pathname.split("/").filter(isSecretValue);
  return [decoded(url.password), url.password, ...query, ...parts];
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function isPath(value: string): boolean {
  return /^[./]/.test(value) || value.split("/").length > 2;
}
