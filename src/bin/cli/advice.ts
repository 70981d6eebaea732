import { Problem } from "../../contract/errors.ts";
import { StoreUnavailable, TenantPaused } from "../../platform/store/port.ts";

const NO_ADDRESS = "This machine has no such address: choose another with --host.";

const LISTENING: Record<string, string> = {
  EADDRINUSE:
    "Another program uses the port, perhaps an instance of this one: end it, or choose another port with --port (with RECEIVABLES_METRICS_ADDRESS, if it is the port of metrics).",
  EADDRNOTAVAIL: NO_ADDRESS,
  ENOTFOUND: NO_ADDRESS,
  EAI_AGAIN: NO_ADDRESS,
  EACCES: "Ports below 1024 need special rights: choose another with --port.",
};

const FOLDER =
  'Check the path and its permissions. If it is the data folder, or in it, choose another with --data or RECEIVABLES_DATA; "doctor" shows the current one.';

const STORE =
  "Check DATABASE_URL and RECEIVABLES_FILES_URL if they are set, else the data folder (--data or RECEIVABLES_DATA), its permissions and its free space.";

const PAUSED =
  'Run the command where the tenant goes on. "admin tenant resume" ends the pause here: only if it does not go on elsewhere.';

const DATABASE =
  "Check DATABASE_URL: the database must exist, run, and let this user in with this password.";

/** The messages of SQLite and of the operating system. */
const FULL = /disk is full|ENOSPC/;
const SPACE =
  "Make room on the disk of the folder that the command writes to, or name another folder.";

const FOLDER_FAULTS = ["EACCES", "EPERM", "EROFS", "ENOTDIR"];

const readField = (error: Error, name: "code" | "syscall"): string =>
  name in error ? String((error as Error & Record<typeof name, unknown>)[name]) : "";

/** Returns a hint for a fault that ended a command, unless its message says enough already. */
export const findAdvice = (error: unknown): string | undefined => {
  if (error instanceof Problem) {
    if (error.details.remedy !== undefined) return error.details.remedy;
    return error.code === "unavailable"
      ? (findAdvice(error.cause) ?? 'Run "doctor" with the same settings to find the cause.')
      : undefined;
  }
  if (error instanceof StoreUnavailable) return STORE;
  if (error instanceof TenantPaused) return PAUSED;
  if (!(error instanceof Error)) return undefined;
  const code = readField(error, "code");
  if (FULL.test(error.message)) return SPACE;
  if (readField(error, "syscall") === "listen") return LISTENING[code];
  // Requests to a platform fail with problems, so what connects without one is the client of PostgreSQL.
  const connects = ["connect", "getaddrinfo"].includes(readField(error, "syscall"));
  // The server refuses a connection with FATAL, and a statement with ERROR.
  if (connects || ("severity" in error && error.severity === "FATAL")) return DATABASE;
  // Some file systems refuse a folder with ENOENT.
  const isFolder = FOLDER_FAULTS.includes(code) || readField(error, "syscall") === "mkdir";
  return isFolder ? FOLDER : undefined;
};
