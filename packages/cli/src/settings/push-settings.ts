// How devices are told what waits.
export interface PushSettings {
  /** Origins of push services beside those of the known browsers. */
  services: readonly string[];
  /** `mailto:` or `https:`, for the people of push services. */
  contact: string;
}

export const defaultPush: PushSettings = { services: [], contact: "mailto:mcpx@localhost" };
