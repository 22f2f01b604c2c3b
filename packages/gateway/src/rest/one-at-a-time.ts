// Answers that are large, and made in several turns: those of one principal one after the other. However many it asks
// for at once, what is made for it is one of them, and what waits is no more than a request.
import type { HttpRequest } from "@mcpx/host";
import { McpxError } from "@mcpx/protocol";

export function oneAtATime<Request extends Pick<HttpRequest, "onGone">, Answer>(
  whose: (request: Request) => Promise<string>,
  work: (request: Request) => Promise<Answer>,
): (request: Request) => Promise<Answer> {
  const last = new Map<string, Promise<unknown>>();
  return async (request) => {
    const key = await whose(request);
    let hasLeft = false;
    request.onGone(() => {
      hasLeft = true;
    });
    const begin = async () => {
      // Nobody reads it any more.
      if (hasLeft) throw new McpxError("bad_request", "the client has left");
      return await work(request);
    };
    const mine = (last.get(key) ?? Promise.resolve()).then(begin, begin);
    last.set(key, mine);
    try {
      return await mine;
    } finally {
      if (last.get(key) === mine) last.delete(key);
    }
  };
}
