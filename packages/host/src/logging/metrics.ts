// Counters, gauges and histograms in a registry of our own, shown at `/metrics`.
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from "prom-client";

export interface Metrics {
  /** The same name gives the same metric, so that two listeners may count together. */
  counter<L extends string = never>(name: string, help: string, labels?: readonly L[]): Counter<L>;
  gauge<L extends string = never>(name: string, help: string, labels?: readonly L[]): Gauge<L>;
  histogram<L extends string = never>(
    name: string,
    help: string,
    bucketsSeconds: readonly number[],
    labels?: readonly L[],
  ): Histogram<L>;
  /** Called before everything is shown, for what is looked at rather than counted. */
  onScrape(look: () => void | Promise<void>): void;
  /** Everything in the Prometheus text format. */
  text(): Promise<string>;
  readonly contentType: string;
}

export type { Counter, Gauge, Histogram };

const prefix = "mcpx_";

/** Names are given without the prefix `mcpx_`. */
export function createMetrics(): Metrics {
  const registry = new Registry();
  const looks: (() => void | Promise<void>)[] = [];
  let making: Promise<string> | undefined;
  collectDefaultMetrics({ register: registry, prefix });
  const settings = <L extends string>(name: string, help: string, labels: readonly L[]) => ({
    name: prefix + name,
    help,
    labelNames: [...labels],
    registers: [registry],
  });
  const once = <T>(name: string, create: () => T): T =>
    (registry.getSingleMetric(prefix + name) as T | undefined) ?? create();
  return {
    counter: <L extends string>(name: string, help: string, labels: readonly L[] = []) =>
      once(name, () => new Counter<L>(settings(name, help, labels))),
    gauge: <L extends string>(name: string, help: string, labels: readonly L[] = []) =>
      once(name, () => new Gauge<L>(settings(name, help, labels))),
    histogram: <L extends string>(
      name: string,
      help: string,
      bucketsSeconds: readonly number[],
      labels: readonly L[] = [],
    ) =>
      once(name, () => new Histogram<L>({ ...settings(name, help, labels), buckets: [...bucketsSeconds] })),
    onScrape: (look) => void looks.push(look),
    text() {
      // Making it takes milliseconds, and anybody on this machine may ask: those who ask meanwhile get the same.
      making ??= Promise.all(looks.map(async (look) => look()))
        .then(() => registry.metrics())
        .finally(() => {
          making = undefined;
        });
      return making;
    },
    contentType: registry.contentType,
  };
}
