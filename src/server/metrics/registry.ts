import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from "prom-client";

// From a point read to the time limit of one exchange with the platform.
const BUCKETS_S = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

/** Creates the metrics of one process. Labels are names of the program's own: no tenant, no id, no address. */
export const createRegistry = () => {
  const register = new Registry();
  const registers = [register];
  const counter = <L extends string>(name: string, help: string, labelNames: L[]) =>
    new Counter({ name: `receivables_${name}`, help, labelNames, registers });
  const gauge = <L extends string>(name: string, help: string, labelNames: L[]) =>
    new Gauge({ name: `receivables_${name}`, help, labelNames, registers });
  const histogram = <L extends string>(name: string, help: string, labelNames: L[]) =>
    new Histogram({ name: `receivables_${name}`, help, labelNames, buckets: BUCKETS_S, registers });
  // Event-loop delay, garbage collection, memory, CPU, file descriptors.
  collectDefaultMetrics({ register });
  return {
    register,
    requests: counter("http_requests_total", "Answered HTTP requests.", [
      "server",
      "method",
      "route",
      "status",
    ]),
    requestSeconds: histogram(
      "http_request_duration_seconds",
      "Time from a request to the last byte of its answer.",
      ["server", "method", "route"],
    ),
    failedLogins: counter("failed_logins_total", "Logins with a wrong password.", []),
    toolCalls: counter(
      "tool_calls_total",
      "MCP tool calls; the outcome is done, asked or a code.",
      ["tool", "outcome"],
    ),
    toolSeconds: histogram("tool_call_duration_seconds", "Time of one MCP tool call.", ["tool"]),
    failedJobs: counter("job_failures_total", "Tries of background jobs that failed.", ["kind"]),
    attempts: counter("webhook_attempts_total", "Attempts of webhook deliveries.", ["status"]),
    jobs: gauge("jobs", "Background jobs in the store.", ["kind", "state"]),
    jobAge: gauge("job_oldest_seconds", "Time since the oldest job was due.", ["kind", "state"]),
    deliveries: gauge("webhook_deliveries", "Webhook deliveries that have not ended.", ["state"]),
    deliveryAge: gauge(
      "webhook_delivery_oldest_seconds",
      "Age of the oldest webhook delivery that has not ended.",
      ["state"],
    ),
    pool: gauge("store_pool", "Connections and views of the store in this process.", [
      "pool",
      "state",
    ]),
    figures: gauge("store_figures_up", "1 if the store answered this scrape, else 0.", []),
  };
};

export type Metrics = ReturnType<typeof createRegistry>;
