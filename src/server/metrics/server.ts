import type { RequestListener } from "node:http";
import { SECOND } from "../../kit/clock.ts";
import { toErrorFields, type Log } from "../../kit/log.ts";
import { waitAtMost } from "../../kit/wait.ts";
import type { Figures } from "../../platform/figures.ts";
import { parsePath } from "../own-routes.ts";
import { isLoopback } from "../../kit/network.ts";
import { type Address, LOOPBACK_NAMES, onlyForHosts, serve } from "../serve.ts";
import { withCounts } from "./events.ts";
import { createRegistry, type Metrics } from "./registry.ts";

/** Returns the platform's figures; undefined where this process has no platform. */
export type ReadFigures = () => Promise<Figures | undefined>;

export type OpenMetrics = {
  /** The log whose events are counted. */
  log: Log;
  close(): Promise<void>;
};

// Less than the usual time limit of a scrape.
const FIGURES_MS = 2 * SECOND;

const parseAddress = (text: string): Address => {
  const at = text.lastIndexOf(":");
  const host = text.slice(0, at);
  return { host: host.replace(/^\[(.*)\]$/, "$1"), port: Number(text.slice(at + 1)) };
};

const setFigures = (metrics: Metrics, { jobs, deliveries, pools }: Figures): void => {
  for (const { kind, state, count, oldestMs } of jobs) {
    metrics.jobs.set({ kind, state }, count);
    metrics.jobAge.set({ kind, state }, oldestMs / SECOND);
  }
  for (const { state, count, oldestMs } of deliveries) {
    metrics.deliveries.set({ state }, count);
    metrics.deliveryAge.set({ state }, oldestMs / SECOND);
  }
  for (const { pool, ...states } of pools) {
    for (const [state, count] of Object.entries(states)) metrics.pool.set({ pool, state }, count);
  }
};

/** Reads the figures for one scrape. Those of a store that does not answer are left out, not repeated. */
const refresh = async (metrics: Metrics, log: Log, readFigures: ReadFigures): Promise<void> => {
  let found: Figures | undefined;
  let isUp = false;
  const read = async (): Promise<void> => {
    found = await readFigures();
    isUp = true;
  };
  await waitAtMost(
    FIGURES_MS,
    read().catch((error: unknown) => log.warn("metrics.no_figures", toErrorFields(error))),
  );
  const { jobs, jobAge, deliveries, deliveryAge, pool, figures } = metrics;
  for (const gauge of [jobs, jobAge, deliveries, deliveryAge, pool]) gauge.reset();
  figures.set(isUp ? 1 : 0);
  if (found !== undefined) setFigures(metrics, found);
};

/** On loopback no proxy stands before the metrics, so that any other name is that of a foreign site. */
const guard = (listener: RequestListener, { host }: Address): RequestListener =>
  isLoopback(host)
    ? onlyForHosts([...LOOPBACK_NAMES, host.includes(":") ? `[${host}]` : host], listener)
    : listener;

/** Serves `/metrics` on an address of its own. */
export const serveMetrics = async (
  address: string,
  log: Log,
  readFigures: ReadFigures,
): Promise<OpenMetrics> => {
  const metrics = createRegistry();
  const { register } = metrics;
  const listener: RequestListener = async (request, response) => {
    if (parsePath(request) !== "/metrics" || request.method !== "GET") {
      response.writeHead(404).end("The metrics are at /metrics.\n");
      return;
    }
    try {
      await refresh(metrics, log, readFigures);
      const body = await register.metrics();
      response.writeHead(200, { "Content-Type": register.contentType }).end(body);
    } catch (error) {
      log.error("metrics.failed", toErrorFields(error));
      response.writeHead(500).end();
    }
  };
  const place = parseAddress(address);
  const served = await serve(guard(listener, place), place);
  log.info("metrics.ready", { url: `${served.url}/metrics` });
  return { log: withCounts(log, metrics), close: served.close };
};
