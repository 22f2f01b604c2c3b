// Which gateway a topic goes to that nobody owns: the same at every gateway, spread over all of them, and little changes
// when one comes or goes. Pure.
import { createHash } from "node:crypto";

export function preferredGateway(topic: string, gateways: readonly number[]): number | undefined {
  const weight = (gateway: number) => createHash("sha256").update(`${gateway} ${topic}`).digest("hex");
  let best: { gateway: number; weight: string } | undefined;
  for (const gateway of gateways) {
    const own = weight(gateway);
    if (best === undefined || own > best.weight) best = { gateway, weight: own };
  }
  return best?.gateway;
}
