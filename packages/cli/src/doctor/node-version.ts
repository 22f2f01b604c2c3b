// The Node this runs on.
import { type Check, type Finding, fault, ok } from "./finding.ts";

const majorMin = 24;

export const nodeVersion: Check = {
  name: "node",
  run: () => [judgeNode(process.versions.node)],
};

export function judgeNode(version: string): Finding {
  if (Number.parseInt(version, 10) >= majorMin) return ok("node", `Node ${version}`);
  return fault("node", `Node ${version} is too old; ${majorMin} is needed`, `nvm install ${majorMin}`);
}
