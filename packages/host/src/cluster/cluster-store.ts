// Which gateways share a store, and what each of them alone does. Times are those of the store's own clock: the clocks
// of the gateways may be minutes apart.

export interface GatewayAddress {
  /** What people call it; a gateway that was started anew may have the id of the one before. */
  id: string;
  /** The address at which other gateways reach this one. */
  address: string;
  /** Of the program. */
  version: string;
}

export interface ClusterGateway extends GatewayAddress {
  /** Given at `join`, and never again to another. */
  number: number;
  /** How long it is still believed to live, unless it says so again. */
  leaseLeftMs: number;
}

/** What happened at one gateway and all have to know. */
export interface News {
  seq: number;
  kind: string;
  body: unknown;
}

export interface ClusterStore {
  /** From now on it is one of them, under a number of its own. */
  join(gateway: GatewayAddress, leaseMs: number): Promise<number>;
  /** Says that it still lives. False where its lease has ended: what it held may be another's, it has to join anew. */
  renew(number: number, leaseMs: number): Promise<boolean>;
  /** Ends a lease at once: its own, or that of a gateway that is known to be dead. */
  end(number: number): Promise<void>;
  /** Those that are believed to live, in the order in which they joined. */
  gateways(): Promise<ClusterGateway[]>;
  /** Whether this gateway is the one that does it, from now on or still; false where another one lives that does. */
  hold(duty: string, number: number): Promise<boolean>;
  /** Resolves with its seq once it is durable. */
  tell(kind: string, body: unknown): Promise<number>;
  /** The oldest first. */
  newsAfter(seq: number, limit: number): Promise<News[]>;
  /** Of the newest that was told; 0 where there was none. */
  lastNews(): Promise<number>;
  /** Forgets gateways that are gone, and all news but the newest `count`. */
  trim(count: number): Promise<void>;
}
