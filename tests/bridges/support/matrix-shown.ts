// A Matrix room as its members' clients show it.
import type { Verb } from "@mcpx/bridges";
import type { Shown } from "./platform-cases.ts";

export interface SeenEvent {
  readonly type: string;
  readonly event_id: string;
  readonly room_id: string;
  readonly sender: string;
  readonly content: Record<string, unknown>;
}

export const emoji: Record<Verb, string> = { approve: "✅", reject: "❌" };

/** As clients show it: the newest edit in its place. */
export function shownIn(
  homeserver: { events: readonly SeenEvent[]; channel: string },
  bot: string,
): (Shown & { id: string })[] {
  const own = homeserver.events.filter(
    ({ type, sender, room_id: room }) =>
      type === "m.room.message" && sender === bot && room === homeserver.channel,
  );
  const relationOf = ({ content }: (typeof own)[number]) =>
    content["m.relates_to"] as
      | { rel_type?: string; event_id?: string; "m.in_reply_to"?: { event_id: string } }
      | undefined;
  const isEdit = (event: (typeof own)[number]) => relationOf(event)?.rel_type === "m.replace";
  const editOf = (id: string) => own.findLast((event) => isEdit(event) && relationOf(event)?.event_id === id);
  const answered = (event: (typeof own)[number]) => {
    const parent = relationOf(event)?.["m.in_reply_to"]?.event_id;
    const found = homeserver.events.find(({ event_id: id }) => id === parent);
    return found === undefined ? undefined : String(found.content.body);
  };
  return own
    .filter((event) => !isEdit(event))
    .map((event) => {
      const { event_id: id, content } = event;
      const now = (editOf(id)?.content["m.new_content"] ?? content) as Record<string, unknown>;
      const card = now["mcpx.card"] as string | undefined;
      const text = String(now.body);
      return {
        id,
        text,
        answers: answered(event),
        card,
        verbs: card === undefined ? [] : ["approve", "reject"],
        links: text.match(/https?:\S+/g) ?? [],
      };
    });
}
