// Approvers whose keys lie here as plain files: every program that runs as their owner can approve with them.
import type { AnchorKey } from "@mcpx/aggregator";
import { thumbprint } from "@mcpx/host";
import { listKeyFiles } from "../files/key-file.ts";
import { shellWord } from "../framework/show-change.ts";

export interface WeakApprover {
  name: string;
  fault: string;
  fix: string;
}

export function weakApprovers(dataDir: string, keys: readonly AnchorKey[], program: string): WeakApprover[] {
  const files = listKeyFiles(dataDir).filter(({ kept }) => kept !== "public");
  return keys.flatMap((key) => {
    const { name } = key;
    const file = files.find(({ jwk }) => thumbprint(jwk) === key.thumbprint);
    // As it is now, whatever it was when it was enrolled.
    if (file !== undefined && file.kept !== "unsealed") return [];
    if (file !== undefined) {
      const fault = `${name} approves with a plain key file, which every program that runs as you can use`;
      return [{ name, fault, fix: `${program} key seal ${shellWord(file.path)}` }];
    }
    if (key.kind === "passkey" || key.kept !== "unsealed") return [];
    const fault = `${name} approves with a key that is a plain file where it is kept`;
    return [
      { name, fault, fix: `run ${program} key seal FILE there, then ${program} key enroll ${name} here` },
    ];
  });
}
