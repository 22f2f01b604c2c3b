// A legacy HTTP client opens the stream of what belongs to no request after it says that it is connected; what a server
// says before that reaches nobody. Given as the `fetch` of an SDK's transport, this tells when the stream is open.

export interface Listening {
  readonly fetch: typeof fetch;
  readonly opened: Promise<void>;
}

export function createListening(): Listening {
  const { promise, resolve } = Promise.withResolvers<void>();
  return {
    fetch: async (url, init) => {
      const response = await fetch(url, init);
      if (init?.method === "GET") resolve();
      return response;
    },
    opened: promise,
  };
}
