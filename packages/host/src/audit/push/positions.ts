// How far the audit chain was sent to each place elsewhere: kept beside the chain, so that it goes on there after
// whatever happened.

export interface AuditPosition {
  /** The `seq` of the last record that has arrived. */
  seq: number;
  hash: string;
}

export interface AuditPositions {
  /** `undefined` where nothing was sent yet. */
  read(place: string): Promise<AuditPosition | undefined>;
  write(place: string, position: AuditPosition): Promise<void>;
}

/** Its name among the settings of the host. */
export const settingOf = (place: string): string => `audit_sent:${place}`;
