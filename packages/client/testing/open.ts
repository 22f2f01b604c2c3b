// Opens what a test needs, and closes it when the test is over.
import { onTestFinished } from "vitest";
import { type RegisterOptions, registerWith, type Subserver } from "../src/subserver/index.ts";
import { kitchenV1 } from "./kitchens.ts";
import { type Aggregator, type AggregatorOptions, startAggregator } from "./scripted-aggregator.ts";

export const subserverId = "6f2d0c8e-1b7a-4c55-9d3e-0a1b2c3d4e5f";

export async function openAggregator(options?: AggregatorOptions): Promise<Aggregator> {
  const aggregator = await startAggregator(options);
  onTestFinished(() => aggregator.close());
  return aggregator;
}

export function openSubserver(url: string, options: Partial<RegisterOptions> = {}): Subserver {
  const { server } = kitchenV1();
  const subserver = registerWith(url, {
    segment: "kitchen",
    server,
    token: "t0ken",
    subserverId,
    ...options,
  });
  onTestFinished(() => subserver.close());
  return subserver;
}

export const hello = {
  protocolVersion: "2025-06-18",
  capabilities: {},
  clientInfo: { name: "aggregator", version: "1" },
};
