// What looks like a secret, and texts that are shown without them. Pure.

const names = /token|secret|passw|passphrase|api_?-?key|auth|credential|private|bearer|cookie|session|dsn/i;
const keyName = /(^|[_-])(key|pwd|pat|pass)$/i;
const marks = /^(sk-|pk_|rk_|gh[oprsu]_|github_pat_|glpat-|xox[a-z]-|AKIA|AIza|ya29\.|eyJ|npm_|hf_|lin_api_)/;
const hidden = "•••";

function isSecretName(name: string): boolean {
  return names.test(name) || keyName.test(name);
}

/** Known beginnings, and long runs that no person has typed. References to somewhere else are none. */
function isSecretValue(value: string): boolean {
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
    .map(([, value]) => bare(value));
  args.forEach((arg, index) => {
    const before = args[index - 1] ?? "";
    const { name, value } = splitArgument(arg);
    const isNamed = before.startsWith("-") && !before.includes("=") && isSecretName(before);
    if (isNamed && !arg.startsWith("-")) found.push(arg);
    else if (isSecret(name, value)) found.push(value);
    else found.push(...urlSecrets(value));
  });
  return [...found, ...urlSecrets(url ?? "")];
}

/** Every text in a value of any shape that must not be shown. */
export function secretsIn(value: unknown, name = ""): string[] {
  if (typeof value === "string") return isSecret(name, value) ? [bare(value)] : urlSecrets(value);
  if (typeof value !== "object" || value === null) return [];
  const args = Array.isArray(value)
    ? secretsOf({ args: value.filter((item) => typeof item === "string") })
    : [];
  return [
    ...args,
    ...Object.entries(value).flatMap(([key, inner]) => secretsIn(inner, Array.isArray(value) ? name : key)),
  ];
}

/** A text, JSON or not, without those values. A very short one is hidden only where it stands by itself. */
export function hideSecrets(text: string, secrets: readonly string[]): string {
  return [...new Set(secrets)]
    .sort((a, b) => b.length - a.length)
    .reduce((shown, secret) => {
      const quoted = JSON.stringify(secret);
      if (secret.length >= 6) return shown.replaceAll(quoted.slice(1, -1), hidden).replaceAll(secret, hidden);
      if (shown === secret) return hidden;
      const ending = shown.endsWith(`=${secret}`) ? `${shown.slice(0, -secret.length)}${hidden}` : shown;
      return ending.replaceAll(quoted, `"${hidden}"`);
    }, text);
}

/** What is before the last word of a header says how it is meant. */
function bare(value: string): string {
  return value.replace(/^(bearer|basic|token) +/i, "");
}

function isSecret(name: string, value: string): boolean {
  // What stands elsewhere is no secret here.
  const isReference = value.includes("${") && value.endsWith("}");
  if (value === "" || isReference || /^(true|false|[0-9]{1,6})$/i.test(value)) return false;
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
  const passwords = [decoded(url.password), url.password];
  return [...passwords, ...query, ...parts].filter((value) => value !== "");
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
