/** The PostgreSQL servers that `DATABASE_URL` names. */
export type DatabaseHosts = {
  /** One URL for each host, in the order of the setting. */
  urls: readonly string[];
  /** Whether only a server that accepts writes may be used. */
  mustWrite: boolean;
};

const URL_PARTS = /^(postgres(?:ql)?:\/\/)([^/?#\s]*)((?:[/?#]\S*)?)$/;
const HOST = /^(?:\[[0-9a-f:.]+\]|[^:[\]]+)(?::(\d{1,5}))?$/i;
const MAX_PORT = 65_535;

const ACCEPTED = ["read-write", "primary"];

const isHost = (text: string): boolean => {
  const match = HOST.exec(text);
  const port = Number(match?.[1] ?? 1);
  return match !== null && port >= 1 && port <= MAX_PORT;
};

/** Returns the fault of the hosts, without their text: a password that is not encoded may be part of it. */
const findHostFault = (hosts: readonly string[]): string | undefined => {
  // An empty host means a socket of this machine.
  if (hosts.length === 1 && hosts[0] === "") return undefined;
  const wrong = hosts.findIndex((host) => !isHost(host));
  if (wrong === -1) return undefined;
  const place = hosts.length === 1 ? "the host" : `host ${wrong + 1} of ${hosts.length}`;
  return `${place} must be NAME or NAME:PORT; write special characters of the password as %XX`;
};

const split = (text: string): { urls: string[]; fault: string | undefined; attributes: string } => {
  const [, scheme = "", authority = "", rest = ""] = URL_PARTS.exec(text) ?? [];
  if (scheme === "") {
    return { urls: [], fault: "must be a postgres:// URL", attributes: "" };
  }
  const end = authority.lastIndexOf("@") + 1;
  const hosts = authority.slice(end).split(",");
  const parameters = new URLSearchParams(rest.split("#")[0]?.split("?")[1] ?? "");
  const attributes = parameters.get("target_session_attrs") ?? "";
  const urls = hosts.map((host) => `${scheme}${authority.slice(0, end)}${host}${rest}`);
  const listed = ["host", "port"].some((name) => parameters.get(name)?.includes(",") === true);
  if (listed) {
    return { urls, fault: "must list several hosts as postgres://USER@A,B/NAME", attributes };
  }
  if (attributes !== "" && !ACCEPTED.includes(attributes)) {
    const fault = `target_session_attrs must be ${ACCEPTED.join(" or ")}, because the store writes`;
    return { urls, fault, attributes };
  }
  return { urls, fault: findHostFault(hosts), attributes };
};

/** Returns what is wrong with a URL of one or several hosts; undefined for a valid one. */
export const findUrlFault = (text: string): string | undefined => split(text).fault;

/** Parses a valid URL, whose hosts are separated by commas as in libpq. @throws {Error} without the URL's text */
export const parseDatabaseUrl = (text: string): DatabaseHosts => {
  const { urls, fault, attributes } = split(text);
  if (fault !== undefined) throw new Error(`DATABASE_URL: ${fault}`);
  return { urls, mustWrite: urls.length > 1 || attributes !== "" };
};
