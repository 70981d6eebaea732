import { buffer } from "node:stream/consumers";
import type { Scanner } from "../../src/platform/scan/port.ts";

/** Judges by words in the file, for tests of all that is around the judging. */
export const scriptedScanner: Scanner = {
  async scan(file) {
    const text = (await buffer(await file.open())).toString("latin1");
    if (text.includes("faulty")) throw new Error("the scanner is down");
    if (text.includes("infected")) {
      const failureReasons = [{ code: "MALWARE_DETECTED" as const, message: "It is malware." }];
      return { status: "Infected", failureReasons };
    }
    if (text.includes("rejected")) {
      const failureReasons = [{ code: "TYPE_MISMATCH" as const, message: "It is another type." }];
      return { status: "Rejected", failureReasons };
    }
    return { status: "Available", warnings: [] };
  },
};
