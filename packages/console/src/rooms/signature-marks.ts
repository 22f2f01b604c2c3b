// How a line says what holds of its envelope's signature. Lines that are not signed, of senders who never sign, say nothing.
import type { SignatureState } from "@mcpx/protocol";

interface SignatureMark {
  readonly sign: string;
  readonly tone: "good" | "odd" | "bad" | "soft";
  readonly title: string;
}

export const signatureMarks: Readonly<Partial<Record<SignatureState, SignatureMark>>> = {
  valid: { sign: "✓", tone: "good", title: "Signed with the known key of its sender" },
  unpinned: { sign: "○", tone: "soft", title: "Signed with a key that is known from this gateway only" },
  key_changed: {
    sign: "⚠",
    tone: "bad",
    title: "Signed with another key than the known one; ask the sender whether the key is new",
  },
  invalid: { sign: "✗", tone: "bad", title: "Signature wrong: altered, or not signed by its sender" },
  stripped: { sign: "⚠", tone: "odd", title: "Not signed, although a key of its sender is known" },
};
