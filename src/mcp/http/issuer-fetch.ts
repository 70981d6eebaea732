import { type Clock, formatTimestamp, SECOND } from "../../kit/clock.ts";
import { toErrorFields, type Log } from "../../kit/log.ts";

/** Pause after a failure in which no request is sent to the issuer. */
const COOL_DOWN_MS = 10 * SECOND;

/** The issuer did not answer recently. `until`: when the next request is sent, in epoch milliseconds. */
export class IssuerUnavailable extends Error {
  readonly until: number;

  constructor(issuer: string, until: number, cause: unknown) {
    super(`${issuer} does not answer; the next request is sent after ${formatTimestamp(until)}`, {
      cause,
    });
    this.name = "IssuerUnavailable";
    this.until = until;
  }
}

/**
 * Creates a `fetch` that reads whole responses. After a failure it throws at once for ten seconds, because otherwise
 * each request would wait until its timeout. The start and the end of an outage are logged.
 *
 * @throws {IssuerUnavailable}
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
  let outage: IssuerUnavailable | undefined;

  const fetchWhole: typeof fetch = async (...request) => {
    const response = await fetch(...request);
    const body = await response.arrayBuffer();
    const { status, headers } = response;
    return new Response(body.byteLength === 0 ? null : body, { status, headers });
  };

  return async (...request) => {
    if (outage !== undefined && now() < outage.until) throw outage;
    try {
      const response = await fetchWhole(...request);
      if (outage !== undefined) log.info("issuer.back", { issuer });
      outage = undefined;
      return response;
    } catch (error) {
      outage = new IssuerUnavailable(issuer, now() + COOL_DOWN_MS, error);
      log.error("issuer.away", { issuer, ...toErrorFields(error) });
      throw outage;
    }
  };
};
