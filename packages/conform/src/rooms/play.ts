// Plays a transcript over real sockets. Everything every participant receives must be written down, in order; at
// the end all inboxes are empty.
import * as message from "./message-moves.ts";
import * as people from "./people-moves.ts";
import * as server from "./server-moves.ts";
import { createStage, type KeptTarget, type Move, type Stage, show } from "./stage.ts";
import type { Step, Transcript } from "./transcript.ts";

/** One line a move: how it is written, and who does it. */
const moves: readonly [RegExp, Move][] = [
  [/^(configuration|a gateway of its own)$/, async () => undefined],
  [/^topic (\S+)$/, people.setTopic],
  [/^(\S+) is an? (full|restricted|responder|unnamed) (human|agent|robot)(?: called "(.+)")?$/, people.giveToken],
  [/^(\S+) is an admin$/, people.giveAdminToken],
  [/^(\S+) has a token without a name$/, people.giveNamelessToken],
  [/^(\S+) has (\S+)'s token$/, people.shareToken],
  [/^(\$[a-z]+) is a new token for (\S+), an? (full|restricted|responder|unnamed) (human|agent|robot)$/, people.rememberToken],
  [/^(\S+) joins(?: with (\S+))?$/, people.joinQuietly],
  [/^(\S+) connects(?: with (\S+))?$/, people.connect],
  [/^(\S+) cannot connect(?: with (\S+))?(?: offering (\S+))?: (\d+) (\S+)$/, people.cannotConnect],
  [/^(\S+) leaves$/, people.leave],
  [/^(\S+) is closed with (\d+)$/, people.closedWith],
  [/^(\S+) sends$/, message.send],
  [/^(\S+) sends exactly$/, message.sendExactly],
  [/^(\S+) sends (\S+) again$/, message.sendAgain],
  [/^(\S+) chats (\d+) times$/, message.chat],
  [/^(\S+) sends a (binary|text) frame of ([0-9a-f ]+)$/, message.sendBytes],
  [/^(\S+) receives$/, message.receive],
  [/^(\S+) receives (\S+) as sent$/, message.receiveAsSent],
  [/^(\S+) receives nothing$/, message.receiveNothing],
  [/^(\S+) is acked as (\S+)$/, message.acked],
  [/^(\S+) is refused (\S+): (\S+)$/, message.refused],
  [/^(\S+) (GET|POST|DELETE) (\S+) answers (\d+)$/, server.callRest],
  [/^the gateway restarts$/, server.restart],
  [/^the log is trimmed to (\d+)$/, server.trim],
]; // biome-ignore format: one move a line

/** Resolves where everything went as written; rejects with the line and the first difference. */
export async function play(transcript: Transcript, target: KeptTarget): Promise<void> {
  const { title, steps } = transcript;
  const stage = createStage(target);
  try {
    for (const step of steps) await playStep(stage, title, step);
    for (const [id, client] of stage.clients) {
      if (client.closed !== undefined) throw new Error(`${title}: at the end ${id} is closed`);
      await client.settled();
      if (client.inbox.length > 0)
        throw new Error(`${title}: at the end ${id} still has ${show(client.inbox)}`);
    }
  } finally {
    for (const { ws } of stage.clients.values()) ws.terminate();
  }
}

async function playStep(stage: Stage, title: string, step: Step): Promise<void> {
  for (const [pattern, move] of moves) {
    const match = pattern.exec(step.words);
    if (match === null) continue;
    try {
      return await move(stage, match, step);
    } catch (error) {
      throw new Error(`${title}\nline ${step.line}: ${step.words}\n${(error as Error).message}`);
    }
  }
  throw new Error(`${title}\nline ${step.line}: nobody knows how to "${step.words}"`);
}
