// SQLSTATE: connection, a server that became read-only, resources, canceled statements, operator
// intervention and system errors; and those of sockets and names.
const CODES =
  /^(?:08...|25006|53...|57014|57P..|58...|E(?:CONNREFUSED|CONNRESET|CONNABORTED|PIPE|TIMEDOUT|HOSTUNREACH|NETUNREACH|NOTFOUND|AI_AGAIN))$/;

// The driver's own errors have no code.
const WORDS =
  /^(?:Connection terminated|Client has encountered a connection error|Client was closed|timeout exceeded when trying to connect|timeout expired|Query read timeout|Postgres connection has been discarded)/;

/** Whether PostgreSQL, or the way to it, cannot be used now. */
export const isPostgresOutage = (error: unknown): boolean => {
  if (!(error instanceof Error)) return false;
  if ("code" in error && typeof error.code === "string") return CODES.test(error.code);
  return WORDS.test(error.message);
};
