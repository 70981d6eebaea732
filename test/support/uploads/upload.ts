import type { FailureCode } from "../../../src/platform/scan/port.ts";

export type Upload = { title: string; fileName: string; bytes: Buffer };

export type HostileUpload = Upload & { status: "Infected" | "Rejected"; code: FailureCode };

/** A file that the scan must reject. */
export const rejected = (
  title: string,
  fileName: string,
  bytes: Buffer,
  code: FailureCode = "TYPE_MISMATCH",
): HostileUpload => ({ title, fileName, bytes, status: "Rejected", code });
