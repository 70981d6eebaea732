import type { Io } from "../io.ts";
import { createLog } from "../../kit/log.ts";
import { openPlatform } from "../platform.ts";
import { type Address, createPlatformListener, serve } from "../serve.ts";
import { waitForAbort } from "../abort.ts";

/** Serves the REST platform alone. */
export const platform = async (io: Io, address: Address): Promise<void> => {
  const log = createLog(io.config.level);
  const open = await openPlatform(io.config, log);
  try {
    const served = await serve(createPlatformListener(open), address);
    io.print({ event: "ready", baseUrl: served.url, extBaseUrl: served.url });
    await waitForAbort(io.ended);
    await served.close();
  } finally {
    await open.close();
  }
};
