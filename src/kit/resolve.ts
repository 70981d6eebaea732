import { promises as dns } from "node:dns";
import { getCode } from "./error.ts";
import type { Resolve } from "./network.ts";

// Names without a dot are resolved by the system alone: the hosts file, container networks.
const isShort = (name: string): boolean => !name.replace(/\.$/, "").includes(".");

const resolveBySystem: Resolve = async (name) =>
  (await dns.lookup(name, { all: true })).map(({ address }) => address);

const NOT_THERE = new Set(["ENOTFOUND", "ENODATA", "ECONNREFUSED", "EBADNAME"]);

const isNotThere = (error: unknown): boolean => NOT_THERE.has(getCode(error) ?? "");

/**
 * Creates a resolver that queries the name servers first and the system (with its hosts file) second. The system's
 * lookup comes second because it blocks a thread of the pool that file access shares until a name server answers.
 * `nameServers` defaults to the system's.
 */
export const createResolve = (nameServers?: readonly string[]): Resolve => {
  const resolver = new dns.Resolver({ timeout: 2000, tries: 2 });
  if (nameServers !== undefined) resolver.setServers(nameServers);
  return async (name) => {
    if (isShort(name)) return resolveBySystem(name);
    const results = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)]);
    const found = results.flatMap((answer) => (answer.status === "fulfilled" ? answer.value : []));
    if (found.length > 0) return found;
    const failures = results.flatMap((answer): unknown[] =>
      answer.status === "rejected" ? [answer.reason] : [],
    );
    if (failures.every(isNotThere)) return resolveBySystem(name);
    throw failures.find((failure) => !isNotThere(failure));
  };
};
