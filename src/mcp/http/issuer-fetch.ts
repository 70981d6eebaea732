import { type Clock, iso, SECOND } from "../../kit/clock.ts";
import { errorFields, type Log } from "../../kit/log.ts";

/** For how long an issuer that did not answer is not asked again. */
const COOL_DOWN_MS = 10 * SECOND;

/** An issuer that cannot be asked now. */
export class IssuerUnavailable extends Error {
  readonly until: number;

  constructor(issuer: string, until: number, cause: unknown) {
    super(`${issuer} does not answer; it is asked again from ${iso(until)} on`, { cause });
    this.name = "IssuerAway";
    this.until = until;
  }
}

/**
 * As `fetch`, with the whole answer read. After one that did not come, whoever asks is told so at once for a while:
 * otherwise each request would wait for its full time. It is logged when that begins and when it is over.
 */
export const createIssuerFetch = ({
  issuer,
  fetch,
  now,
  log,
}: {
  issuer: string;
  fetch: typeof globalThis.fetch;
  now: Clock;
  log: Log;
}): typeof globalThis.fetch => {
  let away: IssuerUnavailable | undefined;

  const ask: typeof fetch = async (...request) => {
    const answer = await fetch(...request);
    const body = await answer.arrayBuffer();
    const { status, headers } = answer;
    return new Response(body.byteLength === 0 ? null : body, { status, headers });
  };

  return async (...request) => {
    if (away !== undefined && now() < away.until) throw away;
    try {
      const answer = await ask(...request);
      if (away !== undefined) log.info("issuer.back", { issuer });
      away = undefined;
      return answer;
    } catch (error) {
      away = new IssuerUnavailable(issuer, now() + COOL_DOWN_MS, error);
      log.error("issuer.away", { issuer, ...errorFields(error) });
      throw away;
    }
  };
};
