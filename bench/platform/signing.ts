import { systemClock } from "../../src/kit/clock.ts";
import { randomId } from "../../src/kit/ids.ts";

/** Signs the audit chains of benchmark stores. */
export const SIGNING = {
  masterKey: async () => Buffer.alloc(32, 1),
  clock: systemClock,
  newId: randomId,
};
