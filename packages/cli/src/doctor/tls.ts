// The files of TLS: there, in time, and belonging together.
import { createPrivateKey, type KeyObject, X509Certificate } from "node:crypto";
import { readFileSync, statSync } from "node:fs";
import { resolve } from "node:path";
import { Failure } from "../framework/failure.ts";
import { shellWord } from "../framework/show-change.ts";
import { configDir } from "../settings/tree-settings.ts";
import { type Check, type Finding, fault, ok, warning } from "./finding.ts";

const about = "tls";
const dayMs = 86_400_000;
const soonMs = 14 * dayMs;

export const tls: Check = {
  name: about,
  run({ loaded }) {
    if (loaded instanceof Failure || loaded.config.listen?.tls === undefined) return [];
    const { tls: files, hosts = [] } = loaded.config.listen;
    const [certPath, keyPath] = [files.cert, files.key].map((file) => resolve(configDir(loaded), file));
    const cert = read(certPath as string, (pem) => new X509Certificate(pem));
    const key = read(keyPath as string, createPrivateKey);
    const faults = [cert, key].filter((one) => "text" in one);
    if ("text" in cert || "text" in key) return faults as Finding[];
    const found = [...judgeCertificate(cert.value, hosts, Date.now()), ...judgeKey(cert.value, key.value)];
    if ((statSync(keyPath as string).mode & 0o044) !== 0)
      found.push(warning(about, `others may read ${keyPath}`, `chmod 600 ${shellWord(keyPath as string)}`));
    return found.length > 0 ? found : [ok(about, `the certificate is valid until ${cert.value.validTo}`)];
  },
};

function read<T>(path: string, parse: (pem: string) => T): { value: T } | Finding {
  try {
    return { value: parse(readFileSync(path, "utf8")) };
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const why =
      code?.startsWith("E") && !code.startsWith("ERR")
        ? `cannot be read (${code})`
        : "is no PEM that can be used";
    return fault(about, `${path} ${why}`, "give the path of a PEM file in listen.tls");
  }
}

type Certificate = Pick<
  X509Certificate,
  "validFrom" | "validFromDate" | "validTo" | "validToDate" | "checkHost"
>;

export function judgeCertificate(cert: Certificate, hosts: readonly string[], now: number): Finding[] {
  const found: Finding[] = [];
  const endsAt = cert.validToDate.getTime();
  const fix = "renew it, then start mcpx up again";
  if (endsAt <= now) found.push(fault(about, `the certificate ended on ${cert.validTo}`, fix));
  else if (endsAt - now < soonMs)
    found.push(warning(about, `the certificate ends in ${Math.floor((endsAt - now) / dayMs)} days`, fix));
  if (cert.validFromDate.getTime() > now)
    found.push(fault(about, `the certificate is not valid before ${cert.validFrom}`, "check the clock"));
  const others = hosts
    .map((host) => host.replace(/:\d{1,5}$/, ""))
    .filter((host) => cert.checkHost(host) === undefined);
  if (others.length > 0)
    found.push(
      warning(about, `the certificate is not for ${others.join(", ")}`, "name it in a new certificate"),
    );
  return found;
}

function judgeKey(cert: X509Certificate, key: KeyObject): Finding[] {
  if (cert.checkPrivateKey(key)) return [];
  return [fault(about, "the key does not belong to the certificate", "give the key it was made with")];
}
