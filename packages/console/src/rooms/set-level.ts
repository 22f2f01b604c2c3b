// Promoting and demoting, at once and for as long as nobody decides otherwise.
import { isLevel, levelRank } from "@mcpx/protocol";
import { faultText } from "../store/api.ts";
import { app, tell } from "../store/page.ts";

export function isPromotion(from: string, to: string): boolean {
  return !isLevel(from) || (isLevel(to) && levelRank(to) > levelRank(from));
}

export async function setLevel(topic: string, participant: string, from: string, to: string): Promise<void> {
  const verb = isPromotion(from, to) ? "promote" : "demote";
  const query = new URLSearchParams({ topic, level: to });
  try {
    await app.api.call("POST", `/admin/participants/${encodeURIComponent(participant)}/${verb}?${query}`, {});
    tell(`${participant} is ${to} now.`);
  } catch (error) {
    tell(faultText(error), true);
  }
}
