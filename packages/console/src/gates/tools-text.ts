// The tools of a capability, as people read them. Pure.

export function toolsText({ tools, toolsLeftOut }: Readonly<Record<string, unknown>>): string {
  const names = Array.isArray(tools) ? tools.join(", ") : "all tools";
  return toolsLeftOut === undefined ? names : `${names} and ${toolsLeftOut} more`;
}
