// Every command, in the order help shows them.
import type { Command } from "./command.ts";
import { add } from "./commands/add.ts";
import { approve } from "./commands/approve.ts";
import { audit } from "./commands/audit.ts";
import { auditVerify } from "./commands/audit-verify.ts";
import { backup } from "./commands/backup.ts";
import { call } from "./commands/call.ts";
import { capabilities } from "./commands/capabilities.ts";
import { capabilitiesRevoke } from "./commands/capabilities-revoke.ts";
import { certAuthority } from "./commands/cert-ca.ts";
import { certClient } from "./commands/cert-client.ts";
import { certServer } from "./commands/cert-server.ts";
import { connect } from "./commands/connect.ts";
import { webConsole } from "./commands/console.ts";
import { devices } from "./commands/devices.ts";
import { devicesMonitor } from "./commands/devices-monitor.ts";
import { devicesProbe } from "./commands/devices-probe.ts";
import { devicesSim } from "./commands/devices-sim.ts";
import { doctor } from "./commands/doctor.ts";
import { grants } from "./commands/grants.ts";
import { grantsAdd } from "./commands/grants-add.ts";
import { grantsRevoke } from "./commands/grants-revoke.ts";
import { importServers } from "./commands/import.ts";
import { join } from "./commands/join.ts";
import { keyEnroll } from "./commands/key-enroll.ts";
import { keyList } from "./commands/key-list.ts";
import { keyNew } from "./commands/key-new.ts";
import { keyShow } from "./commands/key-show.ts";
import { panic } from "./commands/panic.ts";
import { peers } from "./commands/peers.ts";
import { pending } from "./commands/pending.ts";
import { register } from "./commands/register.ts";
import { reject } from "./commands/reject.ts";
import { remove } from "./commands/remove.ts";
import { rules } from "./commands/rules.ts";
import { rulesTest } from "./commands/rules-test.ts";
import { say } from "./commands/say.ts";
import { serve } from "./commands/serve.ts";
import { stdio } from "./commands/stdio.ts";
import { tail } from "./commands/tail.ts";
import { token } from "./commands/token.ts";
import { tokenList } from "./commands/token-list.ts";
import { tokenRevoke } from "./commands/token-revoke.ts";
import { tokenRotate } from "./commands/token-rotate.ts";
import { tools } from "./commands/tools.ts";
import { toolsAccept } from "./commands/tools-accept.ts";
import { toolsDescribe } from "./commands/tools-describe.ts";
import { toolsDiff } from "./commands/tools-diff.ts";
import { toolsDisable } from "./commands/tools-disable.ts";
import { toolsEnable } from "./commands/tools-enable.ts";
import { toolsFix } from "./commands/tools-fix.ts";
import { toolsRename } from "./commands/tools-rename.ts";
import { toolsShow } from "./commands/tools-show.ts";
import { tree } from "./commands/tree.ts";
import { up } from "./commands/up.ts";
import { users } from "./commands/users.ts";
import { usersSignOut } from "./commands/users-sign-out.ts";

export const commands: readonly Command[] = [
  up,
  webConsole,
  add,
  remove,
  importServers,
  connect,
  join,
  serve,
  register,
  peers,
  tail,
  say,
  pending,
  approve,
  reject,
  grants,
  grantsAdd,
  grantsRevoke,
  capabilities,
  capabilitiesRevoke,
  rules,
  rulesTest,
  panic,
  tree,
  tools,
  toolsShow,
  toolsEnable,
  toolsDisable,
  toolsRename,
  toolsDescribe,
  toolsFix,
  toolsDiff,
  toolsAccept,
  users,
  usersSignOut,
  devices,
  devicesProbe,
  devicesMonitor,
  devicesSim,
  call,
  stdio,
  token,
  tokenList,
  tokenRevoke,
  tokenRotate,
  keyNew,
  keyShow,
  keyEnroll,
  keyList,
  certAuthority,
  certServer,
  certClient,
  doctor,
  audit,
  auditVerify,
  backup,
];
