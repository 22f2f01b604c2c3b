// What went wrong with an authorisation, in mcpx's own words: the library's errors may hold whole answers, and with them
// secrets, so nothing of them is passed on but an OAuth error code.
import { isMcpxError, McpxError } from "@mcpx/protocol";

/** `step` is what was being done. */
export function faultOf(step: string, error: unknown): McpxError {
  if (isMcpxError(error)) return error;
  const code = oauthCode(error);
  if (code !== undefined) return new McpxError("server_unauthorised", `${step} was refused: ${code}`);
  // By its members: names of classes do not survive every bundler.
  const isMismatch = error instanceof Error && "expected" in error && "received" in error;
  const what = isMismatch ? ": the issuer is not the one expected" : " failed";
  return new McpxError("server_unauthorised", `${step}${what}`);
}

/** Of an error an authorization server gave; undefined for anything else. */
export function oauthCode(error: unknown): string | undefined {
  if (!(error instanceof Error) || error.name !== "OAuthError" || !("code" in error)) return undefined;
  const { code } = error;
  return typeof code === "string" && /^[a-z_]{1,40}$/.test(code) ? code : undefined;
}
