import { readdirSync, readFileSync } from "node:fs";

/** Parents of all processes of this machine, by process id. */
const listParents = (): Map<number, number> => {
  const parents = new Map<number, number>();
  for (const name of readdirSync("/proc").filter((entry) => /^\d+$/.test(entry))) {
    try {
      const stat = readFileSync(`/proc/${name}/stat`, "utf8");
      // The program's name before it may have spaces and parentheses.
      const [, parent] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
      parents.set(Number(name), Number(parent));
    } catch {
      // It has ended meanwhile.
    }
  }
  return parents;
};

/** Returns a process and all that descend from it. */
const listFamily = (pid: number): number[] => {
  const parents = listParents();
  const family = [pid];
  for (const member of family) {
    for (const [child, parent] of parents) if (parent === member) family.push(child);
  }
  return family;
};

/** Sends a signal unless the process has ended; returns whether it was there. */
export const signal = (pid: number, name: NodeJS.Signals | 0): boolean => {
  try {
    return process.kill(pid, name);
  } catch {
    return false;
  }
};

/** Stops processes with all their children, which stay as they are until SIGCONT or SIGKILL; returns their ids. */
export const stopFamilies = (pids: readonly number[]): number[] => {
  // A stopped parent has no further children.
  for (const pid of pids) signal(pid, "SIGSTOP");
  const members = [...new Set(pids.flatMap((pid) => listFamily(pid)))];
  for (const member of members) signal(member, "SIGSTOP");
  return members;
};
