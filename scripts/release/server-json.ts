// server.json, by which the MCP registry lists a server: https://github.com/modelcontextprotocol/registry. Pure.
import type { Manifest } from "./manifest.ts";
import { registryName } from "./published-manifest.ts";

const schema = "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json";
/** The registry takes no more. */
const descriptionCharsMax = 100;

/** `undefined` where the registry knows no name for such a repository: it believes GitHub who owns one. */
export function serverJson({ version, description = "" }: Manifest, repository: string): string | undefined {
  const { mcpName: name } = registryName(repository);
  if (name === undefined) return undefined;
  const [first = ""] = description.split(/[:.]/);
  const document = {
    $schema: schema,
    name,
    title: "mcpx",
    description: first.slice(0, descriptionCharsMax),
    version,
    websiteUrl: repository,
    repository: { url: repository, source: "github" },
    packages: [
      {
        registryType: "npm",
        identifier: "mcpx",
        version,
        runtimeHint: "npx",
        transport: { type: "stdio" },
        packageArguments: [{ type: "positional", value: "stdio" }],
        environmentVariables: [
          {
            name: "MCPX_DATA",
            description: "The data directory, where it is not the usual one",
            format: "filepath",
          },
        ],
      },
    ],
  };
  return `${JSON.stringify(document, null, 2)}\n`;
}
