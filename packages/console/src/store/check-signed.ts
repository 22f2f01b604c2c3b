// What is shown must be what is signed, whatever the gateway says.
import { digestOf, type GateTerms, isObject, namesAsker, parseExact, sha256 } from "@mcpx/protocol";

interface Shown {
  id: string;
  tool: string;
  asker: string;
  argumentsText: string;
  /** To the byte; only where somebody decides about it. */
  resultText?: string | undefined;
}

/** The gateway does not show what it wants to have signed. */
export class UntrueGate extends Error {}

/** Throws `UntrueGate`. */
export async function checkSigned(terms: GateTerms, shown: Shown): Promise<void> {
  const { id, tool, asker, argumentsText, resultText } = shown;
  const isTrue =
    isObject(terms) &&
    typeof argumentsText === "string" &&
    terms.confirmation_id === id &&
    terms.tool === tool &&
    (!namesAsker(terms) || terms.asker === asker) &&
    terms.arguments_digest === (await digestOf(parseExact(argumentsText))) &&
    (resultText === undefined || terms.result_digest === `sha256:${await sha256(resultText)}`);
  if (isTrue) return;
  throw new UntrueGate("The gateway shows another call than it wants to have signed: sign nothing");
}
