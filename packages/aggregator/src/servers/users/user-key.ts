// What credentials of a server that everybody signs in to themselves are kept under. No name of a server looks like it.
// Pure.

export function userKey(server: string, user: string): string {
  return JSON.stringify(["user", server, user]);
}

/** Our own registration at the server's authorization server: one for all users. */
export function clientKey(server: string): string {
  return JSON.stringify(["client", server]);
}

export function readUserKey(key: string): { server: string; user: string } | undefined {
  if (!key.startsWith('["user",')) return undefined;
  try {
    const [, server, user] = JSON.parse(key) as unknown[];
    return typeof server === "string" && typeof user === "string" ? { server, user } : undefined;
  } catch {
    return undefined;
  }
}
