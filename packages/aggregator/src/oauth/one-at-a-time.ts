// However many want new credentials at once, one attempt is under way, and those who want no more than it does share
// its outcome.

export interface OneAtATime {
  /** `scope`: words apart by spaces, what the attempt is for. */
  run(scope: string | undefined, attempt: () => Promise<boolean>): Promise<boolean>;
}

export function createOneAtATime(): OneAtATime {
  let underWay: { scope: string | undefined; outcome: Promise<boolean> } | undefined;
  return {
    async run(scope, attempt) {
      while (underWay) {
        const { scope: sought, outcome } = underWay;
        if (includesScope(sought, scope)) return outcome;
        await outcome.catch(() => false);
      }
      const outcome = attempt().finally(() => {
        underWay = undefined;
      });
      underWay = { scope, outcome };
      return outcome;
    },
  };
}

function includesScope(sought: string | undefined, wanted: string | undefined): boolean {
  const words = sought?.split(" ") ?? [];
  return (wanted?.split(" ") ?? []).every((word) => words.includes(word));
}
