// What looks like a secret in configurations, and texts that are shown without them: names of variables and options
// mean a secret sooner than names of arguments do, which `@mcpx/protocol` judges. Pure.
import { secretMask } from "@mcpx/protocol";

const names = /token|secret|passw|passphrase|api_?-?key|auth|credential|private|bearer|cookie|session|dsn/i;
const keyName = /(^|[_-])(key|pwd|pat|pass)$/i;
const marks = /^(sk-|pk_|rk_|gh[oprsu]_|github_pat_|glpat-|xox[a-z]-|AKIA|AIza|ya29\.|eyJ|npm_|hf_|lin_api_)/;
const hidden = secretMask;
/** Those that say which code a program runs, at its start or later. */
const loaders =
  /^(LD_|DYLD_|PYTHON|PERL5|PERLLIB$|RUBY(OPT|LIB)$|NODE_(OPTIONS|PATH)$|(BASH_)?ENV$|SHELL(OPTS)?$|PROMPT_COMMAND$|PATH(EXT)?$|GIT_|SSH_ASKPASS$|(_JAVA|JAVA_TOOL|JDK_JAVA)_OPTIONS$|CLASSPATH$|DOTNET_STARTUP_HOOKS$|LUA_(INIT|PATH|CPATH)|PHP(RC$|_INI_)|NPM_CONFIG_|UV_|PIP_|DENO_|BUN_|EDITOR$|VISUAL$|PAGER$)/i;

function isSecretName(name: string): boolean {
  return names.test(name) || keyName.test(name);
}

/**
 * What such a variable says is never hidden from the person who is asked, unless its very name says that it is a
 * secret.
 */
export function isLoaderName(name: string): boolean {
  return loaders.test(name) && !isSecretName(name);
}

/**
 * `NAME=value`, for a person who has to know what a program is given: the name alone where that, or how the value
 * begins, says it is a secret.
 */
export function shownVariable(name: string, value: string): string {
  const isReference = value.includes("${");
  return !isReference && (isSecretName(name) || marks.test(value)) ? name : `${name}=${value}`;
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
    const { value } = splitArgument(arg);
    if (isNamedSecret(args, index)) found.push(arg);
    else if (isSecretArgument(arg)) found.push(value);
    else found.push(...urlSecrets(value));
  });
  return [...found, ...urlSecrets(url ?? "")];
}

/**
 * What a server is: its command or address, with loader variables. Each word loses only what is secret where it stands.
 */
export function shownReach({
  command = "",
  args = [],
  env = {},
  url,
}: Holder & { command?: string | undefined }): string[] {
  if (url !== undefined) return [shownUrl(url)];
  const loading = Object.entries(env).filter(([name]) => isLoaderName(name));
  return [
    ...loading.map(([name, value]) => `${name}=${value}`),
    command,
    ...args.map((_, index) => shownArgument(args, index)),
  ];
}

function shownArgument(args: readonly string[], index: number): string {
  const arg = args[index] ?? "";
  if (isNamedSecret(args, index)) return hidden;
  const { value } = splitArgument(arg);
  const before = arg.slice(0, arg.length - value.length);
  return `${before}${isSecretArgument(arg) ? hidden : shownUrl(value)}`;
}

/** Its password, and what looks secret in its path and query, each in its place: never its host. */
export function shownUrl(text: string): string {
  const scheme = /^[a-z][a-z0-9+.-]*:\/\//i.exec(text)?.[0] ?? "";
  if (scheme === "" || !URL.canParse(text)) return text;
  const rest = text.slice(scheme.length);
  // As browsers read it, a backslash ends a host too.
  const end = rest.search(/^(https?|wss?|ftp|file):/i.test(scheme) ? /[/\\?#]/ : /[/?#]/);
  const [host, more] = end === -1 ? [rest, ""] : [rest.slice(0, end), rest.slice(end)];
  const asked = more.search(/[?#]/);
  const [path, query] = asked === -1 ? [more, ""] : [more.slice(0, asked), more.slice(asked)];
  return `${scheme}${shownHost(host)}${path.split("/").map(shownPart).join("/")}${query.split("&").map(shownPair).join("&")}`;
}

function shownHost(host: string): string {
  const at = host.lastIndexOf("@");
  const colon = host.indexOf(":");
  return colon === -1 || colon > at ? host : `${host.slice(0, colon)}:${hidden}${host.slice(at)}`;
}

function shownPart(part: string): string {
  return isSecretValue(part) ? hidden : part;
}

function shownPair(pair: string): string {
  const equals = pair.indexOf("=");
  const name = decoded(pair.slice(0, equals).replace(/^[?#]/, ""));
  const value = decoded(pair.slice(equals + 1).replaceAll("+", " "));
  return equals !== -1 && isSecret(name, value) ? `${pair.slice(0, equals)}=${hidden}` : pair;
}

/** The word before it says so. */
function isNamedSecret(args: readonly string[], index: number): boolean {
  const before = args[index - 1] ?? "";
  return (
    before.startsWith("-") && !before.includes("=") && isSecretName(before) && !args[index]?.startsWith("-")
  );
}

function isSecretArgument(arg: string): boolean {
  const { name, value } = splitArgument(arg);
  return isSecret(name, value);
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
  if (isLoaderName(name)) return false;
  return isSecretName(name) || isSecretValue(value);
}

/** `--key=value` and `KEY=value`; else all of it is the value. */
function splitArgument(arg: string): { name: string; value: string } {
  const [, name = "", value = arg] = /^([A-Za-z0-9_-]{1,64})=(.*)$/s.exec(arg) ?? [];
  return { name, value };
}

/** Of a store's address, which may name several hosts: no URL then. What refers to somewhere else is no secret. */
export function storeSecrets(text: string): string[] {
  const [, written] = /^postgres(?:ql)?:\/\/[^:@/?]*:([^@]*)@/i.exec(text) ?? [];
  const [, asked] = /[?&]password=([^&]*)/i.exec(text) ?? [];
  return [written, asked]
    .flatMap((secret) => (secret === undefined ? [] : [secret, decoded(secret)]))
    .filter((secret) => secret !== "" && !secret.includes("${"));
}

function urlSecrets(text: string): string[] {
  if (/^postgres(ql)?:\/\//i.test(text)) return storeSecrets(text);
  const url = /^[a-z][a-z0-9+.-]*:\/\//i.test(text) ? URL.parse(text) : null;
  if (url === null) return [];
  const query = [...url.searchParams]
    .filter(([name, value]) => isSecret(name, value))
    .map(([, value]) => value);
  const parts = url.pathname.split("/").filter(isSecretValue);
  const passwords = [decoded(url.password), url.password];
  // Where it would hide the name of the host it is no secret; a weak password that is one word of it stays one.
  const isHost = (value: string) => value.includes(".") && url.host.includes(value);
  return [...passwords, ...query, ...parts].filter((value) => value !== "" && !isHost(value));
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
