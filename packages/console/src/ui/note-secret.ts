// Who shows what looks like a secret says so first: whatever is around a value knows which call it belongs to.

/** Rejects where it could not be recorded. */
export type NoteSecret = () => Promise<void>;

export const noteSecretKey = Symbol("note secret");
