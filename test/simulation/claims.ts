import type { Inspector } from "./inspector.ts";
import type { Life } from "./scheduler.ts";

type Row = { name: string; lease: string; leased_until: number };
type Claim = Row & { holder: string };

/** Returns a check to be called after each commit: it names a job that a process has taken under another's lease. */
export const createClaimCheck = (inspector: Inspector, timeOf: (node: string) => number) => {
  let claims = new Map<string, Claim>();
  return ({ name: holder }: Life): string | undefined => {
    let fault: string | undefined;
    const rows = inspector.all<Row>(
      `select kind || ' ' || id as name, lease, leased_until from jobs where lease is not null`,
    );
    const held = rows.map((row): Claim => {
      const before = claims.get(row.name);
      if (before?.lease === row.lease) return { ...row, holder: before.holder };
      if (
        before !== undefined &&
        before.holder !== holder &&
        before.leased_until > timeOf(holder)
      ) {
        fault = `${holder} has claimed the job ${row.name}, which ${before.holder} had a lease of`;
      }
      return { ...row, holder };
    });
    claims = new Map(held.map((claim) => [claim.name, claim]));
    return fault;
  };
};
