import { SECOND } from "../../kit/clock.ts";
import type { Fields, Log } from "../../kit/log.ts";
import type { Metrics } from "./registry.ts";

// The method comes from the client; only these become labels.
const METHODS = new Set(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]);

const text = (value: unknown): string => String(value ?? "");

type Count = (metrics: Metrics, fields: Fields) => void;

const countCall: Count = ({ toolCalls, toolSeconds }, { tool, outcome, ms }) => {
  toolCalls.inc({ tool: text(tool), outcome: text(outcome) });
  toolSeconds.observe({ tool: text(tool) }, Number(ms) / SECOND);
};

const countAttempt =
  (status: string): Count =>
  ({ attempts }) =>
    attempts.inc({ status });

/** The metric that each log event increments. */
const COUNTS: Record<string, Count> = {
  "http.request"({ requests, requestSeconds }, fields) {
    const method = METHODS.has(text(fields["method"])) ? text(fields["method"]) : "other";
    const labels = { server: text(fields["server"]), method, route: text(fields["route"]) };
    requests.inc({ ...labels, status: text(fields["status"]) });
    requestSeconds.observe(labels, Number(fields["ms"]) / SECOND);
  },
  "tool.called": countCall,
  "tool.refused": countCall,
  "login.failed": ({ failedLogins }) => failedLogins.inc(),
  "job.failed": ({ failedJobs }, { kind }) => failedJobs.inc({ kind: text(kind) }),
  "webhook.delivered": countAttempt("delivered"),
  "webhook.failed": countAttempt("failed"),
  "webhook.abandoned": countAttempt("abandoned"),
};

/** Returns a log that also counts its events, also those below the level that is written. */
export const withCounts = (log: Log, metrics: Metrics): Log => {
  const counted =
    (level: keyof Log) =>
    (event: string, fields: Fields = {}): void => {
      COUNTS[event]?.(metrics, fields);
      log[level](event, fields);
    };
  return {
    debug: counted("debug"),
    info: counted("info"),
    warn: counted("warn"),
    error: counted("error"),
  };
};
