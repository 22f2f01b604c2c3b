// Compares what the gateway answers with what its OpenAPI document says of that address, strictly: a field that nobody
// has described is a fault of the description. Every answer that a test asks a test server for is compared.
import { z } from "zod";
import { problem } from "../../packages/cli/src/openapi/address.ts";
import { addresses } from "../../packages/cli/src/openapi/document.ts";

const described = addresses.map((address) => ({
  address,
  form: new RegExp(`^${address.path.replace(/[.]/g, "\\.").replace(/:\w+/g, "[^/]+")}$`),
}));

/** What is wrong; nothing for an address that is not described. */
export function faultOfAnswer(
  method: string,
  path: string,
  { status, body }: { status: number; body: unknown },
): string | undefined {
  const [bare = ""] = path.split("?");
  const found = described.find(({ address, form }) => address.method === method && form.test(bare));
  if (found === undefined) return undefined;
  const { address } = found;
  const isGood = status < 400 || address.also?.includes(status) === true;
  if (isGood && status !== (address.status ?? 200) && !address.also?.includes(status))
    return `${method} ${address.path} answered ${status}, which is not described`;
  const schema = isGood ? address.answer : problem;
  if (typeof schema === "string") return undefined;
  const { error } = schema.safeParse(body);
  return error && `${method} ${address.path} ${status}: ${z.prettifyError(error)}`;
}
