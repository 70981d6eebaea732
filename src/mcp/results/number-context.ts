import type { Broker } from "../../broker/port.ts";
import type { CallOptions } from "../../client/port.ts";
import type { NumberContext } from "../../insights/spellings.ts";

/** Creates the context in which other spellings of a number are found for one call of a tool or resource. */
export const createNumberContext = async (
  broker: Broker,
  options: CallOptions,
): Promise<NumberContext> => ({
  call: (operation, args) => broker.call(operation, args, options),
  extensions: await broker.extensions(options.signal),
  signal: options.signal ?? new AbortController().signal,
});
