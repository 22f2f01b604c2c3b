// Every command, in the order help shows them.
import type { Command } from "./command.ts";
import { audit } from "./commands/audit.ts";
import { backup } from "./commands/backup.ts";
import { keyNew } from "./commands/key-new.ts";
import { keyShow } from "./commands/key-show.ts";
import { say } from "./commands/say.ts";
import { tail } from "./commands/tail.ts";
import { token } from "./commands/token.ts";
import { tokenList } from "./commands/token-list.ts";
import { tokenRevoke } from "./commands/token-revoke.ts";
import { tokenRotate } from "./commands/token-rotate.ts";
import { up } from "./commands/up.ts";

export const commands: readonly Command[] = [
  up,
  tail,
  say,
  token,
  tokenList,
  tokenRevoke,
  tokenRotate,
  keyNew,
  keyShow,
  audit,
  backup,
];
