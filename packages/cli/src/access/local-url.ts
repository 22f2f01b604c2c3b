// The address at which this machine's own commands find the gateway. Pure.
import type { ListenerOptions } from "@mcpx/host";

/** An address that listens everywhere is reached at loopback; with TLS, by the name the certificate is for. */
export function localUrl(url: string, { hosts = [], tls }: Pick<ListenerOptions, "hosts" | "tls">): string {
  const local = new URL(url);
  const [served] = hosts;
  if (tls !== undefined && served !== undefined) local.hostname = new URL(`https://${served}`).hostname;
  else if (local.hostname === "0.0.0.0") local.hostname = "127.0.0.1";
  else if (local.hostname === "[::]") local.hostname = "[::1]";
  return local.origin;
}
