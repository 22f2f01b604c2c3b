// The SDKs' clients drop a step of progress that comes in one piece with the answer, and on a busy machine the last one
// does. Which steps have come is seen where messages come in.

// biome-ignore lint/suspicious/noExplicitAny: the two SDKs' types differ, their messages do not
type Take = (message: any, extra?: any) => void;

/** Of a transport whose client is connected: its steps from now on, as they come. */
export function hearSteps(transport: { onmessage?: unknown }): number[] {
  const steps: number[] = [];
  const take = transport.onmessage as Take;
  transport.onmessage = ((message, extra) => {
    if (message.method === "notifications/progress") steps.push(message.params.progress);
    take(message, extra);
  }) satisfies Take;
  return steps;
}
