import { promisify } from "node:util";

type Ancestor = { pid: number; parent: number; command: string };

/** A shell may stand between npm and this process. */
const MAX_ANCESTORS = 4;
const LOOK_EVERY_MS = 500;
const COMMAND_MS = 10_000;

/** Runs a program and returns what it prints. */
const run = async (program: string, args: readonly string[]): Promise<string> => {
  // Loaded here, because most starts need no other program.
  const { execFile } = await import("node:child_process");
  const options = { timeout: COMMAND_MS, windowsHide: true };
  return (await promisify(execFile)(program, args, options)).stdout;
};

const PACKAGE_MANAGER =
  /(?:^|[\s/\\"])(?:npm|npx|pnpm|yarn)(?:[-.]cli|\.c?js|\.cmd|\.exe)?(?:[\s"]|$)/;

const readUnix = async (pid: number): Promise<Ancestor | undefined> => {
  const stdout = await run("ps", ["-o", "ppid=,args=", "-p", String(pid)]);
  const [, parent, command = ""] = /^\s*(\d+)\s+(.*)/.exec(stdout) ?? [];
  return parent === undefined ? undefined : { pid, parent: Number(parent), command };
};

const readWindows = async (pid: number): Promise<Ancestor | undefined> => {
  const query = `Get-CimInstance Win32_Process -Filter 'ProcessId=${pid}' | Select-Object ParentProcessId,CommandLine | ConvertTo-Json`;
  const stdout = await run("powershell.exe", ["-NoProfile", "-Command", query]);
  const { ParentProcessId: parent, CommandLine: command } = JSON.parse(stdout) as {
    ParentProcessId: number;
    CommandLine: string | null;
  };
  return { pid, parent, command: command ?? "" };
};

/** Returns the processes from the parent up to the package manager that started this one; the parent alone if there is none. */
const listStarters = async (): Promise<number[]> => {
  const read = process.platform === "win32" ? readWindows : readUnix;
  const found: number[] = [];
  for (let pid = process.ppid; pid > 1 && found.length < MAX_ANCESTORS;) {
    const ancestor = await read(pid).catch(() => undefined);
    if (ancestor === undefined) break;
    found.push(pid);
    if (PACKAGE_MANAGER.test(ancestor.command)) return found;
    pid = ancestor.parent;
  }
  return [process.ppid];
};

const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // The process of another user is alive, too.
    return error instanceof Error && "code" in error && error.code === "EPERM";
  }
};

/**
 * Calls back once when the package manager that started this process has ended: npm passes SIGTERM on to its shell only,
 * and passes nothing on when it is killed, also on Windows.
 */
export const onStarterEnd = (env: Record<string, string | undefined>, act: () => void): void => {
  if (env["npm_lifecycle_event"] === undefined && env["npm_execpath"] === undefined) return;
  const parent = process.ppid;
  let starters = [parent];
  const search = async (): Promise<void> => {
    starters = await listStarters();
  };
  void search();
  const timer = setInterval(() => {
    // An orphan gets another parent, except on Windows.
    if (process.ppid === parent && starters.every(isAlive)) return;
    clearInterval(timer);
    act();
  }, LOOK_EVERY_MS);
  timer.unref();
};
