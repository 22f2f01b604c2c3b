// Reads `postgres://user:password@host:5432,other/database?schema=mcpx`: which servers, as whom, where the tables are.
// As libpq writes it, but with nothing taken from the environment, and without the modes of TLS that check nobody.

export interface PostgresHost {
  /** A name, an address, or the directory of a Unix socket. */
  readonly host: string;
  readonly port: number;
  readonly isEncrypted: boolean;
}

export interface PostgresAddress {
  /** One or more: the first that takes writes is used. */
  readonly hosts: readonly PostgresHost[];
  readonly user: string;
  readonly password: string | undefined;
  readonly database: string;
  readonly schema: string;
  /** A file of certificates that vouch for the server; the system's unless given. */
  readonly authorities: string | undefined;
}

const parameters = ["host", "port", "user", "password", "schema", "sslmode", "sslrootcert"];
const schemaName = /^[a-z_][a-z0-9_]{0,62}$/;
const defaultPort = 5_432;

/** Throws a plain error that names what is wrong, and never the password. */
export function readPostgresAddress(text: string): PostgresAddress {
  const { credentials, authority, path, search } = partsOf(text);
  const query = readQuery(search);
  const [user = "", password] = splitOnce(credentials, ":").map(decode);
  const address = {
    user: query.get("user") ?? user,
    password: query.get("password") ?? password,
    database: decode(path),
    schema: query.get("schema") ?? "mcpx",
    authorities: query.get("sslrootcert"),
  };
  if (address.user === "") fail("it names no user: write postgres://USER@HOST/DATABASE");
  if (address.database === "") fail("it names no database: write postgres://USER@HOST/DATABASE");
  if (!schemaName.test(address.schema) || address.schema.startsWith("pg_")) {
    fail(
      `schema ${JSON.stringify(address.schema)} is not a name of a to z, 0 to 9 and _, or begins with pg_`,
    );
  }
  return { ...address, hosts: readHosts(authority, query) };
}

/** As people may read it: without the password. */
export function showPostgresHost({ host, port }: PostgresHost): string {
  if (host.startsWith("/")) return `${host}/.s.PGSQL.${port}`;
  return host.includes(":") ? `[${host}]:${port}` : `${host}:${port}`;
}

const wrongShape =
  "it is not postgres://USER:PASSWORD@HOST:PORT/DATABASE; in a password write @, / and ? as %40, %2F and %3F";

function fail(fault: string): never {
  throw new Error(`the address of the PostgreSQL store is wrong: ${fault}`);
}

interface AddressParts {
  credentials: string;
  authority: string;
  path: string;
  search: string;
}

function partsOf(text: string): AddressParts {
  const [scheme = "", rest = ""] = splitOnce(text, "://");
  const [place = "", search = ""] = splitOnce(rest, "?");
  const [front = "", path = ""] = splitOnce(place, "/");
  const at = front.indexOf("@");
  const authority = front.slice(at + 1);
  const isSound = !path.includes("/") && !authority.includes("@") && !text.includes("#");
  if (!["postgres", "postgresql"].includes(scheme) || !isSound) fail(wrongShape);
  return { credentials: front.slice(0, Math.max(0, at)), authority, path, search };
}

function readQuery(search: string): Map<string, string> {
  const query = new Map<string, string>();
  for (const pair of search === "" ? [] : search.split("&")) {
    const [name = "", value = ""] = splitOnce(pair, "=").map(decode);
    if (!parameters.includes(name)) {
      fail(`the parameter ${JSON.stringify(name)} is not one of ${parameters.join(", ")}`);
    }
    if (query.has(name)) fail(`the parameter ${name} is there twice`);
    query.set(name, value);
  }
  return query;
}

function readHosts(authority: string, query: ReadonlyMap<string, string>): PostgresHost[] {
  const named = authority.split(",").map(readHost);
  const hosts = (query.get("host")?.split(",") ?? named.map(({ host }) => host)).map(decode);
  const ports = query.get("port")?.split(",") ?? named.map(({ port }) => port);
  if (hosts.some((host) => host === "")) fail("it names no host: write postgres://USER@HOST/DATABASE");
  if (ports.length > 1 && ports.length !== hosts.length) {
    fail(`it names ${hosts.length} hosts and ${ports.length} ports`);
  }
  const mode = query.get("sslmode");
  return hosts.map((host, index) => ({
    host,
    port: readPort(ports.length === 1 ? ports[0] : ports[index]),
    isEncrypted: isEncrypted(host, mode),
  }));
}

/** `[::1]:5432` or `name:5432`. */
function readHost(text: string): { host: string; port: string | undefined } {
  const [, bracketed, plain = "", port] = /^(?:\[([^\]]*)\]|([^:[\]]*))(?::(.*))?$/.exec(text) ?? [];
  return { host: bracketed ?? plain, port };
}

function readPort(text: string | undefined): number {
  if (text === undefined || text === "") return defaultPort;
  const port = /^\d{1,5}$/.test(text) ? Number(text) : 0;
  return port > 0 && port < 65_536 ? port : fail(`${JSON.stringify(text)} is not a port`);
}

/** Encrypted and checked, unless it stays on this machine or the operator says otherwise. */
function isEncrypted(host: string, mode: string | undefined): boolean {
  if (host.startsWith("/")) return false;
  if (mode === undefined) return !/^(localhost|127(\.\d+){3}|::1)$/.test(host);
  if (mode === "verify-full") return true;
  if (mode === "disable") return false;
  return fail(
    `sslmode=${mode} does not check which server answers; use verify-full (with sslrootcert=FILE for an authority ` +
      "of your own), or disable",
  );
}

function splitOnce(text: string, separator: string): string[] {
  const at = text.indexOf(separator);
  return at === -1 ? [text] : [text.slice(0, at), text.slice(at + separator.length)];
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return fail("a % in it does not begin an encoded character; write % itself as %25");
  }
}
