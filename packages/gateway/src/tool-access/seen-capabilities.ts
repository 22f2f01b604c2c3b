// Capabilities that were given or used before the gateway's eyes, for admins to see and revoke: who may use what of
// whom, never the token. In memory, bounded, until they are over; one that is used again is seen again. [AC-12-1]
import type { CapabilityClaims, ToolSet } from "@mcpx/protocol";

export interface SeenCapability {
  topic: string;
  issuer: string;
  id: string;
  holder: string;
  tools: ToolSet;
  /** How many more tools it names than are kept here. */
  toolsLeftOut: number;
  maxUses: number | undefined;
  seenAtMs: number;
  untilMs: number;
}

export interface SeenBounds {
  countMax: number;
  /** Of one issuer in one topic. */
  countPerIssuerMax: number;
}

const defaultBounds: SeenBounds = { countMax: 2_048, countPerIssuerMax: 256 };
const toolCharsKeptMax = 1_000;
/** As long as any revocation is remembered. */
const lifeMaxMs = 10 * 366 * 86_400_000;

export class SeenCapabilities {
  /** The oldest first. */
  readonly #seen = new Map<string, SeenCapability>();
  readonly #bounds: SeenBounds;

  constructor(bounds: Partial<SeenBounds> = {}) {
    this.#bounds = { ...defaultBounds, ...bounds };
  }

  note({ topic, iss, jti, holder, tools, maxUses, exp }: CapabilityClaims, now: number): void {
    const name = nameOf(topic, iss, jti);
    const untilMs = Math.min(exp * 1_000, now + lifeMaxMs);
    if (untilMs <= (this.#seen.get(name)?.untilMs ?? now)) return;
    this.#seen.delete(name);
    this.#makeSpace(topic, iss, now);
    const kept = beginningOf(tools);
    this.#seen.set(name, {
      topic,
      issuer: iss,
      id: jti,
      holder,
      tools: kept,
      toolsLeftOut: tools.length - kept.length,
      maxUses,
      seenAtMs: now,
      untilMs,
    });
  }

  find(topic: string, issuer: string, id: string): SeenCapability | undefined {
    return this.#seen.get(nameOf(topic, issuer, id));
  }

  /** Those that are not over, the oldest first. */
  list(now: number): SeenCapability[] {
    return [...this.#seen.values()].filter(({ untilMs }) => untilMs > now);
  }

  /** An issuer with very many capabilities loses its own oldest ones first. */
  #makeSpace(topic: string, issuer: string, now: number): void {
    const own: string[] = [];
    for (const [name, seen] of this.#seen) {
      if (seen.untilMs <= now) this.#seen.delete(name);
      else if (seen.topic === topic && seen.issuer === issuer) own.push(name);
    }
    const [oldest] = own.length >= this.#bounds.countPerIssuerMax ? own : this.#seen.keys();
    const isFull = own.length >= this.#bounds.countPerIssuerMax || this.#seen.size >= this.#bounds.countMax;
    if (isFull && oldest !== undefined) this.#seen.delete(oldest);
  }
}

function beginningOf(tools: ToolSet): ToolSet {
  if (tools === "*") return tools;
  let chars = 0;
  return tools.filter((tool) => {
    chars += tool.length;
    return chars <= toolCharsKeptMax;
  });
}

function nameOf(topic: string, issuer: string, id: string): string {
  return `${topic}\n${issuer}\n${id}`;
}
