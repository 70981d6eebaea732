import { builtInScanner } from "../../../src/platform/scan/built-in.ts";
import type { Verdict } from "../../../src/platform/scan/port.ts";

/** Runs bytes through the built-in scanner under a file's name. */
export const scan = (fileName: string, bytes: Uint8Array): Promise<Verdict> =>
  builtInScanner.scan({
    fileName,
    size: bytes.byteLength,
    open: () => Promise.resolve(new Blob([Uint8Array.from(bytes)]).stream()),
  });
