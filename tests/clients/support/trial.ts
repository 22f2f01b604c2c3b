// One client through everything: what works and what does not, cell by cell.
import { type Cell, cells, type Driver, type Session, type Told } from "./driver.ts";
import type { Stage } from "./stage.ts";

/** What models take. */
const forModels = /^[a-zA-Z0-9_-]{1,64}$/;

export type Findings = Record<Cell, string>;

/** `yes`, or what was wrong. */
export async function tryOut(driver: Driver, stage: Stage): Promise<Findings> {
  const id = driver.client.toLowerCase().replaceAll(/[^a-z0-9]+/g, "-");
  const findings = {} as Findings;
  for (const cell of cells) {
    try {
      await trials[cell](driver, stage, `${id}-${cell}`);
      findings[cell] = "yes";
    } catch (error) {
      findings[cell] = (error as Error).message;
    }
  }
  return findings;
}

type Trial = (driver: Driver, stage: Stage, id: string) => Promise<void>;

async function within(session: Promise<Session>, work: (session: Session) => Promise<void>): Promise<void> {
  const opened = await session;
  try {
    await work(opened);
  } finally {
    await opened.close();
  }
}

/** At the tree. */
const atTree = (work: (session: Session, stage: Stage, id: string) => Promise<void>): Trial => {
  return async (driver, stage, id) =>
    within(driver.connect(await stage.tree(id)), (session) => work(session, stage, id));
};

const trials: Readonly<Record<Cell, Trial>> = {
  names: atTree(async (session) => {
    const names = await session.tools();
    check(names.length >= 6, "no tools are listed");
    const bad = names.find((name) => !forModels.test(name));
    check(bad === undefined, `a model refuses the name ${bad}`);
  }),
  call: atTree(async (session) => {
    const { text, isError } = await call(session, "papers__look", { paper: "tax" });
    check(text.includes("tax is a paper") && !isError, text);
  }),
  structured: atTree(async (session) => {
    const { text, isError } = await call(session, "papers__count", { paper: "tax" });
    check(text.includes("41") && !isError, text);
  }),
  image: atTree(async (session) => {
    const { text, isError } = await call(session, "papers__picture", { paper: "tax" });
    check(/image|iVBORw0KGgo/.test(text) && !isError, text);
  }),
  error: atTree(async (session) => {
    const { text } = await call(session, "papers__tear", { paper: "tax" });
    check(text.includes("tax is too thick to tear"), text);
  }),
  approved: atTree(async (session, stage, id) => {
    const first = await call(session, "papers__shred", { paper: id });
    check(!first.isError, `waiting is taken for a failure: ${first.text}`);
    check(!stage.traces().includes(`shred ${id}`), "it has happened unapproved");
    const { tool, args } = adviceIn(first.text);
    const [{ text, isError }] = await Promise.all([call(session, tool, args), stage.decide(id, "approve")]);
    check(text.includes(`${id} is shredded`) && !isError, text);
    check(stage.traces().filter((line) => line === `shred ${id}`).length === 1, "it has not happened once");
  }),
  /** People need two minutes: whoever waits is told "not yet" meanwhile, and waits again. */
  late: async (driver, { slow }, id) =>
    within(driver.connect(await slow.tree(id)), async (session) => {
      const { tool, args } = adviceIn((await call(session, "papers__shred", { paper: id })).text);
      slow.pass(65_000);
      const second = await call(session, tool, { ...args, timeout_ms: 100 });
      check(!second.isError, `waiting is taken for a failure: ${second.text}`);
      slow.pass(65_000);
      const again = adviceIn(second.text);
      const [{ text, isError }] = await Promise.all([
        call(session, again.tool, again.args),
        slow.decide(id, "approve"),
      ]);
      check(text.includes(`${id} is shredded`) && !isError, text);
      check(slow.traces().filter((line) => line === `shred ${id}`).length === 1, "it has not happened once");
    }),
  rejected: atTree(async (session, stage, id) => {
    const { tool, args } = adviceIn((await call(session, "papers__shred", { paper: id })).text);
    const [{ text }] = await Promise.all([call(session, tool, args), stage.decide(id, "reject")]);
    check(text.includes("alice has rejected this call: not on a Friday"), text);
    check(!stage.traces().includes(`shred ${id}`), "it has happened");
  }),
  expired: async (driver, { hasty }, id) =>
    within(driver.connect(await hasty.tree(id)), async (session) => {
      const isTold = ({ text }: Told) => /nobody has approved \S+ in time/.test(text);
      const first = await call(session, "papers__shred", { paper: id });
      // A client that shows progress is held until it is too late.
      const waited = async ({ tool, args } = adviceIn(first.text)) => call(session, tool, args);
      const last = isTold(first) ? first : await waited();
      check(isTold(last), last.text);
      check(!hasty.traces().includes(`shred ${id}`), "it has happened");
    }),
  /** Of a tool that promises a form the client may check. */
  form: atTree(async (session, stage, id) => {
    const { tool, args } = adviceIn((await call(session, "papers__shred_all", { paper: id })).text);
    const [{ text, isError }] = await Promise.all([call(session, tool, args), stage.decide(id, "approve")]);
    check(text.includes("43") && !isError, text);
  }),
  room: async (driver, stage, id) =>
    within(driver.connect(await stage.room(id, "full")), async (session) => {
      const { text, isError } = await call(session, "oven__bake", { loaf: id });
      check(text.includes(`${id} is baked`) && !isError, text);
    }),
  proposal: async (driver, stage, id) =>
    within(driver.connect(await stage.room(id, "restricted")), async (session) => {
      const first = await call(session, "oven__bake", { loaf: id });
      check(!first.isError && !stage.baked.includes(id), first.text);
      const { tool, args } = adviceIn(first.text);
      const [{ text, isError }] = await Promise.all([call(session, tool, args), stage.fulfil(id)]);
      check(text.includes(`${id} is baked`) && !isError, text);
      check(stage.baked.filter((loaf) => loaf === id).length === 1, "it has not happened once");
    }),
};

/** Its model knows a tool by our name, behind whatever prefix. */
async function call(session: Session, tool: string, args: Record<string, unknown>) {
  const names = await session.tools();
  const name = names.find((one) => one === tool || one.endsWith(`_${tool}`));
  if (name === undefined) throw new Error(`there is no ${tool} among ${names.join(", ")}`);
  return session.call(name, args);
}

/** As a model reads it, however often it was quoted: what to call, and with what. */
function adviceIn(text: string): { tool: string; args: Record<string, unknown> } {
  const found = /call the tool (\S+) with (\{[^}]*\})/.exec(text.replaceAll(/\\+"/g, '"'));
  if (found === null) throw new Error(`it does not say how to wait: ${text}`);
  return { tool: found[1] ?? "", args: JSON.parse(found[2] ?? "") };
}

function check(isGood: boolean, why: string): void {
  if (!isGood) throw new Error(why.slice(0, 300));
}

/** Everything works, but for what is the client's own fault. */
export function expectedOf({ issues = {} }: Driver): Findings {
  return Object.fromEntries(cells.map((cell) => [cell, issues[cell] ?? "yes"])) as Findings;
}
