import type { Log } from "../kit/log.ts";
import type { Config } from "../config/config.ts";
import type { OpenMetrics, ReadFigures } from "./metrics/server.ts";

/** Serves `/metrics` where an address is set. Without one, nothing is loaded or counted. */
export const openMetrics = async (
  { metricsAddress }: Pick<Config, "metricsAddress">,
  log: Log,
  readFigures: ReadFigures,
): Promise<OpenMetrics> => {
  if (metricsAddress === undefined) return { log, close: async () => {} };
  const { serveMetrics } = await import("./metrics/server.ts");
  return serveMetrics(metricsAddress, log, readFigures);
};
