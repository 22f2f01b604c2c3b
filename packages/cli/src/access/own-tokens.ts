// Tokens that mcpx makes for itself: of commands and of the console, for minutes each. Pure.
const ownNames = /^console:|@console\.|^cli:/;
/** Theirs end sooner; one that lasts was made by somebody, whatever it is called. */
const lastsMsMax = 3_600_000;

export function isOwnName(sub: string): boolean {
  return ownNames.test(sub);
}

export function isOwnToken(token: { sub: string; issuedAt: number; expiresAt: number }): boolean {
  return isOwnName(token.sub) && token.expiresAt - token.issuedAt <= lastsMsMax;
}
