import type { Problem } from "../../contract/errors.ts";
import { toProblem } from "./problem.ts";
import type { RequestNeeds } from "./context.ts";

// A signed URL is a credential too; it is refused with 403.
const isRefusedCredential = ({ status, code }: Problem): boolean =>
  status === 401 || code === "signed_url_refused";

/** Counts a refused credential against its address. Returns the problem, or rate_limited above the limit. */
export const limitFailures = async (
  { limiter, log }: Pick<RequestNeeds, "limiter" | "log">,
  { ip, now, requestId }: { ip: string; now: number; requestId: string },
  problem: Problem,
): Promise<Problem> => {
  if (!isRefusedCredential(problem)) return problem;
  try {
    await limiter.failure(ip, now);
    return problem;
  } catch (error) {
    return toProblem(error, log, requestId);
  }
};
