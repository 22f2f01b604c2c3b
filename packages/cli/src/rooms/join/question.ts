// One question to the person at the terminal: the next line that is typed is its answer. [X0-9-1]

export class Question {
  #settle: ((isYes: boolean) => void) | undefined;

  /** Resolves to whether the person said yes; anything else is no, and so is leaving. */
  ask(signal: AbortSignal): Promise<boolean> {
    return new Promise((resolve) => {
      this.#settle = resolve;
      signal.addEventListener("abort", () => resolve(false), { once: true });
    });
  }

  /** Takes a line as the answer; `false` where nothing was asked. */
  take(text: string): boolean {
    const settle = this.#settle;
    this.#settle = undefined;
    settle?.(/^(y|yes)$/i.test(text.trim()));
    return settle !== undefined;
  }
}
