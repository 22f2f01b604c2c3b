// A bounded queue behind `for await`. Who reads too slowly is told so, rather than given a stream with holes.
import { RoomError } from "./room-error.ts";

export interface EventStream<T> {
  readonly iterator: AsyncIterableIterator<T>;
  push(value: T): void;
  end(): void;
}

/** `onClose` runs once, when nothing more is taken. */
export function openEventStream<T>(bufferMax: number, onClose: () => void): EventStream<T> {
  const buffer: T[] = [];
  const waiting: PromiseWithResolvers<IteratorResult<T>>[] = [];
  let isOpen = true;
  let fault: RoomError | undefined;
  const over = (): IteratorResult<T> => ({ done: true, value: undefined });
  const end = () => {
    if (!isOpen) return;
    isOpen = false;
    onClose();
    for (const { resolve } of waiting.splice(0)) resolve(over());
  };
  const iterator: AsyncIterableIterator<T> = {
    [Symbol.asyncIterator]: () => iterator,
    next: async () => {
      if (buffer.length > 0) return { done: false, value: buffer.shift() as T };
      if (fault !== undefined) {
        const thrown = fault;
        fault = undefined;
        throw thrown;
      }
      if (!isOpen) return over();
      const turn = Promise.withResolvers<IteratorResult<T>>();
      waiting.push(turn);
      return turn.promise;
    },
    return: async () => {
      buffer.length = 0;
      fault = undefined;
      end();
      return over();
    },
  };
  return {
    iterator,
    end,
    push: (value) => {
      if (!isOpen) return;
      const next = waiting.shift();
      if (next !== undefined) next.resolve({ done: false, value });
      else if (buffer.length < bufferMax) buffer.push(value);
      else {
        fault = new RoomError("fell_behind", `${bufferMax} events were waiting; the loop reads too slowly`);
        end();
      }
    },
  };
}
