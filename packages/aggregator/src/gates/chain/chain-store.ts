// Where the chain of approvers is kept: entries are appended, never changed. Two processes may append; the second of them
// is told that its entry follows another one now. Siblings on SQLite and on PostgreSQL. [B-KEY-2]

export interface ChainStore {
  /** From this number on, in their order. */
  texts(from: number): Promise<string[]>;
  text(n: number): Promise<string | undefined>;
  length(): Promise<number>;
  /** False where it is not the next one: nothing is written then. Durable when it resolves. */
  append(n: number, text: string): Promise<boolean>;
}
