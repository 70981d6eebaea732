import type { FailureCode } from "../../../src/platform/scan/port.ts";

export type Upload = { title: string; fileName: string; bytes: Buffer };

export type HostileUpload = Upload & { status: "Infected" | "Rejected"; code: FailureCode };
