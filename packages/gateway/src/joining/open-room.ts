// Finds a room or opens it: which log it has, whether it may be made, where its order stands.
import { type Principal, principalKey } from "@mcpx/host";
import { McpxError, matchesGlob, quoteShort } from "@mcpx/protocol";
import { defaultTopic, type Gateway, type TopicOptions } from "../room/gateway-state.ts";
import { giveTopicBack, takeTopic } from "../room/places.ts";
import { createRoom, type Room } from "../room/room.ts";

export async function openRoom(gateway: Gateway, topic: string, principal: Principal): Promise<Room> {
  const open = gateway.rooms.get(topic);
  if (open !== undefined) return open;
  const { history, toolAccess } = topicOptions(gateway, topic);
  const log = history ? gateway.durableLog : gateway.ephemeralLog;
  await ensureTopic(gateway, topic, principal);
  await gateway.ownership?.claim(topic);
  log.prepare(topic);
  const { last } = await log.bounds(topic);
  // Somebody else may have opened it meanwhile.
  const room = gateway.rooms.get(topic) ?? createRoom(topic, log, history, last, toolAccess);
  gateway.rooms.set(topic, room);
  return room;
}

/** The exact name's options, else those of the longest matching glob, over the defaults. */
export function topicOptions({ options }: Pick<Gateway, "options">, topic: string): TopicOptions {
  const { topics } = options;
  const exact = Object.hasOwn(topics, topic) ? topics[topic] : undefined;
  const globs = Object.keys(topics).filter((glob) => matchesGlob(glob, topic));
  const longest = globs.sort((a, b) => b.length - a.length)[0];
  const given = exact ?? (longest === undefined ? {} : topics[longest]);
  return { ...defaultTopic, ...given };
}

/** Topics come to be by the first join of a token that allows it. [X0-2.2-1] */
async function ensureTopic(gateway: Gateway, topic: string, principal: Principal): Promise<void> {
  const { topics, durableLog } = gateway;
  const isNew = !topics.has(topic);
  if (isNew) {
    checkNewTopic(gateway, topic);
    takeTopic(gateway, principal);
  }
  // Counted before the wait: many may come at once, each for a topic of its own.
  topics.add(topic);
  try {
    // Also where another connection is about to make it: this one needs it made.
    await durableLog.createTopic(topic);
    if (isNew && principal.issuedAt !== undefined)
      await gateway.topicMakers.made(topic, principalKey(principal));
  } catch (error) {
    if (isNew) {
      topics.delete(topic);
      giveTopicBack(gateway, principal);
    }
    throw error;
  }
  // The first joiner may have failed in the meantime and removed the room.
  topics.add(topic);
}

function checkNewTopic({ options }: Gateway, topic: string): void {
  if (options.createTopics === "configured" && !Object.hasOwn(options.topics, topic)) {
    throw new McpxError(
      "not_found",
      `the topic ${quoteShort(topic)} is not configured, and this gateway takes configured topics only`,
    );
  }
}
