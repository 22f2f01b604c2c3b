// Every server of the configuration: found, started, listed, and what its tools say of themselves.
import { definitionWarnings, isObject } from "@mcpx/protocol";
import { cut } from "../framework/visible.ts";
import { awaitedAddresses } from "./awaited-addresses.ts";
import { type Check, type Finding, fault, ok, plural, some, warning } from "./finding.ts";
import type { ServerReport } from "./survey.ts";

export const servers: Check = {
  name: "servers",
  doing: "starting the servers",
  run: async (world) => {
    const reports = await world.survey();
    const addresses = reports.some(wantsAuthorisation) ? await awaitedAddresses(world) : new Map();
    return reports.flatMap((report) => judgeServer(report, addresses.get(report.name)));
  },
};

const faultCharsMax = 400;

/** `address`: where the gateway waits for it to be authorised. */
export function judgeServer(report: ServerReport, address?: string): Finding[] {
  const { name, tools, leftOut, tookMs } = report;
  const about = `server ${name}`;
  if (address !== undefined && wantsAuthorisation(report))
    return [fault(about, `needs authorisation: open ${address}`)];
  if (report.fault !== undefined)
    return [fault(about, cut(report.fault.text, faultCharsMax), fixFor(report))];
  if (report.users !== undefined) {
    return [ok(about, `users sign in to it themselves; ${plural(report.users, "user")} signed in`)];
  }
  const plain = tools.filter(({ item }) => !isAnnotated(item)).length;
  const said = plain === 0 ? "" : `, ${plain} of them without annotations and so taken for dangerous`;
  const summary = ok(about, `${plural(tools.length, "tool")} in ${Math.round(tookMs)} ms${said}`);
  if (tools.length === 0 && leftOut.length === 0) return [warning(about, "it has no tools")];
  const found = tools.flatMap(({ name: tool, item }) =>
    definitionWarnings(item).map((text) => `${tool}: ${text}`),
  );
  return [
    summary,
    ...(leftOut.length === 0
      ? []
      : [
          warning(about, `left out: ${some(leftOut, 3)}`, `tell the makers of ${name}, or rename them there`),
        ]),
    ...(found.length === 0
      ? []
      : [
          warning(
            about,
            `hides or imitates text: ${some(found, 3)}`,
            `see mcpx tools show; mcpx remove ${name}`,
          ),
        ]),
  ];
}

function isAnnotated({ annotations, _meta: meta }: ServerReport["tools"][number]["item"]): boolean {
  const isDeclared = isObject(meta) && isObject(meta["x-mcpax-capability"]);
  return (
    isDeclared || (isObject(annotations) && Object.keys(annotations).some((key) => key.endsWith("Hint")))
  );
}

function wantsAuthorisation({ fault: found }: Pick<ServerReport, "fault">): boolean {
  return /authoris|401/.test(found?.text ?? "");
}

function fixFor({ name, fault: found, isElsewhere }: ServerReport): string {
  if (found?.kind === "command")
    return `install it, or mcpx add ${name} --replace -- COMMAND with its full path`;
  if (wantsAuthorisation({ fault: found }))
    return "mcpx up, and open the address mcpx tree shows; or set its headers";
  if (found?.kind === "list") return `give it more time: "listTimeout": "60s" in mcpServers.${name}`;
  if (isElsewhere) return `check the address, or mcpx add ${name} --replace URL`;
  return `run its command by hand; mcpx add ${name} --replace -- COMMAND, or mcpx remove ${name}`;
}
