import type { Io } from "../io.ts";
import { createLog } from "../../kit/log.ts";
import { openPlatform } from "../platform.ts";
import { type Address, platformListener, serve } from "../serve.ts";
import { untilEnded } from "../ended.ts";

/** The REST platform alone. */
export const platform = async (io: Io, address: Address): Promise<void> => {
  const log = createLog(io.config.level);
  const open = await openPlatform(io.config, log);
  try {
    const served = await serve(platformListener(open), address);
    io.print({ event: "ready", baseUrl: served.url, extBaseUrl: served.url });
    await untilEnded(io.ended);
    await served.close();
  } finally {
    await open.close();
  }
};
