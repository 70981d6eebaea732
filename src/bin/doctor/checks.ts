import { Problem } from "../../contract/errors.ts";
import { getCode, getMessage } from "../../kit/error.ts";

/** The result of one check. A passed check may have a hint too. */
export type Check = { check: string; ok: boolean; found: string; hint?: string };

export const createPass = (check: string, found: string, hint?: string): Check => ({
  check,
  ok: true,
  found,
  ...(hint === undefined ? {} : { hint }),
});

export const createFault = (check: string, found: string, hint: string): Check => ({
  check,
  ok: false,
  found,
  hint,
});

export const toCheck = (check: string, problem: Problem): Check =>
  createFault(
    check,
    `${problem.code}: ${problem.message}`,
    problem.details.remedy ?? HINTS[problem.code] ?? "See the message.",
  );

const HINTS: Partial<Record<Problem["code"], string>> = {
  unauthenticated: "Check the credential's setting, or create a new key.",
  invalid_credentials: "Check RECEIVABLES_EMAIL and RECEIVABLES_PASSWORD, or log in again.",
  key_expired: "Create a new key.",
  forbidden_tenant: "Check RECEIVABLES_TENANT_ID, or ask for access to that tenant.",
  rate_limited: "Wait a minute and try again.",
  unavailable: "See the check of the address.",
};

/** Runs a check; a Problem becomes a failed check. */
export const catchProblem = async (check: string, act: () => Promise<Check>): Promise<Check> => {
  try {
    return await act();
  } catch (error) {
    if (error instanceof Problem) return toCheck(check, error);
    throw error;
  }
};

/** Returns the message of an error with that of its first cause, such as the fault of a connection. */
export const explainError = (error: unknown): string => {
  let root = error;
  while (root instanceof Error && root.cause !== undefined) root = root.cause;
  if (root === error) return getMessage(error);
  return `${getMessage(error)} (${getCode(root) ?? getMessage(root)})`;
};
