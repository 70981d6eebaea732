import { Problem } from "../contract/errors.ts";
import { StoreUnavailable } from "../platform/store/port.ts";

const LISTENING: Record<string, string> = {
  EADDRINUSE:
    "Another program listens there, perhaps one of these: end it, or choose another port with --port.",
  EADDRNOTAVAIL: "This machine has no such address: choose another with --host.",
  EACCES: "Ports below 1024 take special rights: choose another with --port.",
};

const FOLDER =
  'Check the path and the rights to it. --data or RECEIVABLES_DATA choose another data folder; "doctor" says which it is.';

const STORE =
  "Check DATABASE_URL where it is set, else the data folder (--data or RECEIVABLES_DATA) and the rights to it.";

const FOLDER_FAULTS = ["EACCES", "EPERM", "EROFS", "ENOTDIR", "ENOSPC"];

const readField = (error: Error, name: "code" | "syscall"): string =>
  name in error ? String((error as Error & Record<typeof name, unknown>)[name]) : "";

/** Returns a hint for a fault that ended a command, unless its message says enough already. */
export const findAdvice = (error: unknown): string | undefined => {
  if (error instanceof Problem) {
    return error.code === "unavailable" ? '"doctor" with the same settings says why.' : undefined;
  }
  if (error instanceof StoreUnavailable) return STORE;
  if (!(error instanceof Error)) return undefined;
  const code = readField(error, "code");
  if (readField(error, "syscall") === "listen") return LISTENING[code];
  return FOLDER_FAULTS.includes(code) ? FOLDER : undefined;
};
