import type { Io } from "./io.ts";
import { warnOfOpenKeyFile } from "../../config/folder.ts";
import { openMetrics } from "../../server/metrics.ts";
import { openPlatform, type OpenPlatform } from "../compose/platform.ts";
import { type Address, createPlatformListener, serve } from "../../server/serve.ts";
import { createStartup } from "./startup.ts";
import { waitForAbort } from "../../kit/abort.ts";

/** Serves the REST platform alone. */
export const servePlatform = async (io: Io, address: Address): Promise<void> => {
  const ended = io.takeSignals();
  let open: OpenPlatform | undefined;
  const figures = async () => open?.figures();
  const startup = createStartup(io);
  const metrics = await openMetrics(io.config, startup.log, figures);
  try {
    warnOfOpenKeyFile(io.config, metrics.log);
    open = await openPlatform(io.config, metrics.log);
    const served = await serve(createPlatformListener(open), address);
    io.print({ event: "ready", baseUrl: served.url, extBaseUrl: served.url });
    metrics.log.info("server.started", { version: io.version, url: served.url });
    if (startup.isPerson) {
      io.notify(
        `\n  The platform is ready at ${served.url}. Its operations: ${served.url}/docs\n  Ctrl-C ends it.\n`,
      );
    }
    startup.release();
    await waitForAbort(ended);
    metrics.log.info("server.stopping");
    await served.drain();
    await served.close();
  } finally {
    startup.release();
    await open?.close();
    await metrics.close();
  }
};
