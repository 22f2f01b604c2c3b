// Calls that wait at gates: each with its exact arguments, and its outcome. What was touched is looked at again.
import { type GateTerms, isObject, type JsonObject, parseExact } from "@mcpx/protocol";
import { type Api, ApiError } from "./api.ts";
import { createCell, type Readable } from "./cell.ts";
import { checkSigned, UntrueGate } from "./check-signed.ts";

interface GateApproval {
  by: string;
  at: string;
}

/** As the gateway tells it. */
export interface GateView {
  id: string;
  status: string;
  principal: string;
  session: string;
  tool: string;
  why: string;
  route: string[];
  capability: JsonObject;
  approvers: number;
  approvals: GateApproval[];
  createdAt: string;
  expiresAt: string;
  settledAt?: string;
  rejectedBy?: string;
  reason?: string;
  terms: GateTerms;
  /** What the tool's definition hides or imitates; gateways of older versions do not say. */
  warnings?: string[];
  /** Where the tool's schema says that arguments are secret; gateways of older versions do not say. */
  secrets?: string[];
  /** Who says how dangerous the tool is. */
  word?: string;
  /** Exact: what the digest is of. */
  argumentsText: string;
  outcome?: { result?: JsonObject; error?: JsonObject };
  /** To the byte: what a release is about. */
  resultText?: string;
  /** There where the result was held until somebody has looked at it. */
  review?: { digest: string; approvals: GateApproval[] };
  last?: { argumentsText: string; approvals: GateApproval[]; settledAt?: string };
}

export interface Gates {
  readonly view: Readable<readonly GateView[]>;
  /** Names and kinds of those whose signature counts. */
  readonly approvers: Readable<readonly JsonObject[]>;
  readonly isPanic: Readable<boolean>;
  /** Counts up with everything that may have changed around the gates: rules, grants, approvers, panic. */
  readonly changes: Readable<number>;
  /** What is wrong with a gate that is not shown for it. */
  readonly fault: Readable<string | undefined>;
  /** The gate with this id has changed; `touchAll` means that any gate may have. */
  touch(id: string): void;
  touchAll(): void;
  /** Something was touched and could not be looked at. */
  isStale(): boolean;
  /** Looks at everything; resolves when it has looked. */
  refresh(): Promise<void>;
  /** One of them again, at once. */
  reload(id: string): Promise<void>;
  /** The page need not show it any more. */
  forget(id: string): void;
}

const settledMax = 50;
/** More than these are not looked at one by one. */
const touchedMax = 20;

export function createGates(api: Api): Gates {
  const known = new Map<string, GateView>();
  const view = createCell<readonly GateView[]>([]);
  const approvers = createCell<readonly JsonObject[]>([]);
  const isPanic = createCell(false);
  const changes = createCell(0);
  const fault = createCell<string | undefined>(undefined);
  const touched = new Set<string>();
  let isAllTouched = false;
  let looking: Promise<void> | undefined;

  const publish = () => {
    const all = [...known.values()];
    const settled = all.filter(({ status }) => !isUnderWay(status));
    for (const { id } of settled.slice(0, Math.max(0, settled.length - settledMax))) known.delete(id);
    view.set([...known.values()]);
  };
  /** A gate that cannot be trusted or is gone is not shown; the others are. */
  const load = async (id: string) => {
    try {
      known.set(id, await readGate(await api.call("GET", `/admin/gates/${encodeURIComponent(id)}`)));
    } catch (error) {
      const isGone = error instanceof ApiError && error.status === 404;
      if (!isGone && !(error instanceof UntrueGate)) throw error;
      known.delete(id);
      if (!isGone) fault.set(error.message);
    }
  };
  const reload = async (id: string) => {
    await load(id);
    publish();
  };
  const look = async () => {
    const [answer, held] = await Promise.all([
      api.call("GET", "/admin/gates?status=pending"),
      api.call("GET", "/admin/gates?status=held"),
    ]);
    const listed = [...objects(answer.gates), ...objects(held.gates)];
    const ids = new Set(listed.map(({ id }) => String(id)));
    approvers.set(sameOr(approvers.get(), objects(answer.approvers)));
    isPanic.set(answer.panic === true);
    changes.set(changes.get() + 1);
    const left = [...known.values()].filter(({ id, status }) => isUnderWay(status) && !ids.has(id));
    const changed = listed.filter((one) => {
      const before = known.get(String(one.id));
      return before === undefined || stateOf(before) !== stateOf(one as unknown as GateView);
    });
    try {
      for (const id of [...changed.map((one) => String(one.id)), ...left.map((one) => one.id)])
        await load(id);
    } finally {
      publish();
    }
  };
  const lookAtTouched = async () => {
    while (isAllTouched || touched.size > 0) {
      const [id] = touched;
      if (isAllTouched || touched.size > touchedMax || id === undefined) {
        isAllTouched = false;
        touched.clear();
        await look();
      } else {
        touched.delete(id);
        await reload(id);
      }
    }
  };
  const work = async () => {
    try {
      await lookAtTouched();
    } catch (error) {
      // What was not seen is not known to be what it was.
      isAllTouched = true;
      throw error;
    } finally {
      looking = undefined;
    }
  };
  const begin = () => {
    looking ??= work();
    return looking;
  };
  const beginQuietly = () => {
    // It stays touched, and the page that refreshes is told why.
    begin().catch(() => undefined);
  };
  return {
    view,
    approvers,
    isPanic,
    changes,
    fault,
    reload,
    touch(id) {
      touched.add(id);
      beginQuietly();
    },
    touchAll() {
      isAllTouched = true;
      beginQuietly();
    },
    isStale: () => isAllTouched && looking === undefined,
    refresh() {
      isAllTouched = true;
      return begin();
    },
    forget(id) {
      known.delete(id);
      publish();
    },
  };
}

/** The gate waits for a person, or its call has not ended. */
function isUnderWay(status: string): boolean {
  return ["pending", "approved", "consumed", "held"].includes(status);
}

function stateOf({ status, approvals, review }: GateView): string {
  return `${status} ${approvals.length} ${review?.approvals.length}`;
}

/** What is shown must be what is signed, whatever the gateway says. */
async function readGate(answer: JsonObject): Promise<GateView> {
  const gate = answer as unknown as GateView;
  const { terms, argumentsText, id, tool, principal, resultText } = gate;
  // The asker does not see a result before others have.
  const result = gate.status === "held" ? resultText : undefined;
  await checkSigned(terms, { id, tool, asker: principal, argumentsText, resultText: result });
  return resultText === undefined ? gate : { ...gate, outcome: outcomeOf(resultText) };
}

/** As it was signed, with its numbers to the last digit. */
function outcomeOf(resultText: string): NonNullable<GateView["outcome"]> {
  const read = parseExact(resultText);
  return isObject(read) ? read : {};
}

function objects(value: unknown): JsonObject[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}

function sameOr<T>(before: readonly T[], now: readonly T[]): readonly T[] {
  return JSON.stringify(before) === JSON.stringify(now) ? before : now;
}
