// The other gateways of the cluster, as the rooms need them: by number, and all at once.
import type { ClusterGateway, Logger, Membership, PeerLink, Peers } from "@mcpx/host";
import { McpxError } from "@mcpx/protocol";

export interface Neighbours {
  /** Of this gateway. Throws `draining` while it is no member of the cluster. */
  number(): number;
  /** Those that live, this one among them. */
  living(): readonly ClusterGateway[];
  /** Rejects with `draining` where that gateway is not known, or cannot be reached. */
  linkTo(number: number): Promise<PeerLink>;
  /** What each of the others answers; one that does not is left out, and the log says so. */
  askAll(verb: string, body: unknown): Promise<unknown[]>;
}

export interface NeighboursParts {
  membership: Pick<Membership, "number" | "gateways">;
  peers: Pick<Peers, "to">;
  log: Logger;
}

export function createNeighbours({ membership, peers, log }: NeighboursParts): Neighbours {
  function number(): number {
    const own = membership.number();
    if (own !== undefined) return own;
    throw new McpxError("draining", "this gateway is not in the cluster", { retryAfterMs: 500 });
  }

  async function linkTo(wanted: number): Promise<PeerLink> {
    const gateway = membership.gateways().find((one) => one.number === wanted);
    if (gateway !== undefined) return peers.to(gateway);
    // It has joined since this gateway last asked, or has gone.
    throw new McpxError("draining", "another gateway serves this topic", { retryAfterMs: 200 });
  }

  async function askOne(gateway: ClusterGateway, verb: string, body: unknown): Promise<unknown[]> {
    try {
      return [await (await peers.to(gateway)).ask(verb, body)];
    } catch (error) {
      log.warn({ err: error, gateway: gateway.number, verb }, "a gateway did not answer");
      return [];
    }
  }

  return {
    number,
    living: membership.gateways,
    linkTo,
    async askAll(verb, body) {
      const own = number();
      const others = membership.gateways().filter((gateway) => gateway.number !== own);
      return (await Promise.all(others.map((gateway) => askOne(gateway, verb, body)))).flat();
    },
  };
}
