// Which members of arguments look like secrets: these are shown only when asked for. Pure.

const secretName =
  /^(?:.*[_.-])?(?:pass(?:word|wd|phrase)?|secret|token|api[_-]?key|apikey|private[_-]?key|credential|credentials|authorization|cookie|bearer)$/i;
const secretValue = /^(?:sk-|ghp_|gho_|github_pat_|xox[abp]-|AKIA|eyJ[A-Za-z0-9_-]{10})/;

export function isSecret(key: string, value: unknown): boolean {
  if (typeof value !== "string" || value === "") return false;
  return secretName.test(key) || secretValue.test(value);
}
