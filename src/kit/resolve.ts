import { promises as dns } from "node:dns";
import type { Resolve } from "./network.ts";

// Names without a dot are the system's own to explain: its hosts file, a container's neighbours.
const isShort = (name: string): boolean => !name.replace(/\.$/, "").includes(".");

const bySystem: Resolve = async (name) =>
  (await dns.lookup(name, { all: true })).map(({ address }) => address);

const NOT_THERE = new Set(["ENOTFOUND", "ENODATA", "ECONNREFUSED", "EBADNAME"]);

const isNotThere = (error: unknown): boolean =>
  error instanceof Error && "code" in error && NOT_THERE.has(String(error.code));

/**
 * A name's addresses from the name servers, else from the system with its hosts file. The system's own way comes
 * second because it occupies a thread that files need too, for as long as a name server is silent. The name servers
 * are the system's where none are given.
 */
export const createResolve = (nameServers?: readonly string[]): Resolve => {
  const resolver = new dns.Resolver({ timeout: 2000, tries: 2 });
  if (nameServers !== undefined) resolver.setServers(nameServers);
  return async (name) => {
    if (isShort(name)) return bySystem(name);
    const asked = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)]);
    const found = asked.flatMap((answer) => (answer.status === "fulfilled" ? answer.value : []));
    if (found.length > 0) return found;
    const failures = asked.flatMap((answer): unknown[] =>
      answer.status === "rejected" ? [answer.reason] : [],
    );
    if (failures.every(isNotThere)) return bySystem(name);
    throw failures.find((failure) => !isNotThere(failure));
  };
};
