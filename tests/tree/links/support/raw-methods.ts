// What the raw servers of the wires' cases know, whatever carries it: the texts to send for a request, in turn.

/** biome-ignore lint/suspicious/noExplicitAny: whatever comes over the wire */
type Message = any;

const note = '{"jsonrpc":"2.0","method":"notifications/note"}';

/** `undefined` for no answer at all; `delayMs` before it. */
export function rawAnswer({ id, method, params }: Message, raw: string): string[] | undefined {
  const result = (text: string) => `{"jsonrpc":"2.0","result":${text},"id":${JSON.stringify(id)}}`;
  switch (method) {
    case "echo":
      // Its own text: what was sent is what comes back.
      return [result(/"params":(.*)\}$/s.exec(raw)?.[1] ?? "{}")];
    case "numbers":
      return [result('{"n":[9007199254740993,1.0,1e400]}')];
    case "note":
      return [note, result("{}")];
    case "batch":
      return [`[${note},${result("{}")}]`];
    case "large":
      return [result(`{"text":"${"x".repeat(params.bytes)}"}`)];
    case "slow":
      return [result("{}")];
    default:
      return undefined;
  }
}
