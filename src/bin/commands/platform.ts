import type { Io } from "../io.ts";
import { warnOfOpenKeyFile } from "../folder.ts";
import { createLog } from "../../kit/log.ts";
import { openMetrics } from "../metrics.ts";
import { openPlatform, type OpenPlatform } from "../platform.ts";
import { type Address, createPlatformListener, serve } from "../serve.ts";
import { waitForAbort } from "../../kit/abort.ts";

/** Serves the REST platform alone. */
export const servePlatform = async (io: Io, address: Address): Promise<void> => {
  const ended = io.takeSignals();
  let open: OpenPlatform | undefined;
  const figures = async () => open?.figures();
  const metrics = await openMetrics(io.config, createLog(io.config.level), figures);
  try {
    warnOfOpenKeyFile(io.config, metrics.log);
    open = await openPlatform(io.config, metrics.log);
    const served = await serve(createPlatformListener(open), address);
    io.print({ event: "ready", baseUrl: served.url, extBaseUrl: served.url });
    metrics.log.info("server.started", { version: io.version, url: served.url });
    await waitForAbort(ended);
    metrics.log.info("server.stopping");
    await served.drain();
    await served.close();
  } finally {
    await open?.close();
    await metrics.close();
  }
};
