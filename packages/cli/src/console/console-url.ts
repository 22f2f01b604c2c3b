// The address of the console as a person opens it: by name, since passkeys have no use for numbers. Pure.

export function consoleUrl(gatewayUrl: string, path: string): string {
  const url = new URL(path, gatewayUrl);
  if (url.hostname === "127.0.0.1" || url.hostname === "[::1]") url.hostname = "localhost";
  return url.href;
}
