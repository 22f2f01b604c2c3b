// From the configuration to the logins with accounts of a company. Secrets are filled in when they are used.
import type { Config } from "../config/config.ts";
import type { CompanyLoginSettings } from "../console/company/company-logins.ts";
import { type FillInFrom, fillIn } from "../files/fill-in.ts";

export function loginSettings({ logins = {} }: Config, world: FillInFrom): CompanyLoginSettings[] {
  return Object.entries(logins).map(([name, { issuer, clientId, clientSecret, scopes = [], rights }]) => ({
    ...{ name, issuer, clientId, scopes, rules: rights },
    ...(clientSecret !== undefined && { clientSecret: () => fillIn(clientSecret, world) }),
  }));
}
