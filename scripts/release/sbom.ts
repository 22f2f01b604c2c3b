// A list of everything that is installed with mcpx, in CycloneDX 1.5, with the versions that were tested. Written from
// the lock file: `npm sbom` leaves out what the repository itself also uses for its tests. Pure: the same lock file gives
// the same bytes.
import type { Component } from "./closure.ts";

export function sbom(version: string, components: readonly Component[]): string {
  const document = {
    $schema: "http://cyclonedx.org/schema/bom-1.5.schema.json",
    bomFormat: "CycloneDX",
    specVersion: "1.5",
    version: 1,
    metadata: { component: described({ name: "mcpx", version, license: "Apache-2.0" }, "application") },
    components: components.map((component) => described(component, "library")),
  };
  return `${JSON.stringify(document, null, 2)}\n`;
}

function described({ name, version, integrity, license }: Component, type: "application" | "library") {
  const purl = `pkg:npm/${name.replace("@", "%40")}@${version}`;
  return {
    type,
    name,
    version,
    purl,
    "bom-ref": purl,
    ...(license !== undefined && { licenses: [licenseOf(license)] }),
    ...(integrity !== undefined && { hashes: [hashOf(integrity)] }),
  };
}

/** One id of the SPDX list, or an expression of several. */
function licenseOf(license: string) {
  return /^[\w.+-]+$/.test(license) ? { license: { id: license } } : { expression: license };
}

function hashOf(integrity: string) {
  const [algorithm = "", value = ""] = integrity.split(" ")[0]?.split(/-(.*)/s) ?? [];
  const alg = algorithm.toUpperCase().replace("SHA", "SHA-");
  return { alg, content: Buffer.from(value, "base64").toString("hex") };
}
