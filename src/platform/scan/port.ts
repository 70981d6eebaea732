/** An uploaded file. `open` may be called more than once; each stream must be read to its end or canceled. */
export type ScannedFile = {
  fileName: string;
  /** bytes */
  size: number;
  open(): Promise<ReadableStream<Uint8Array>>;
};

export type FailureCode =
  | "MALWARE_DETECTED"
  | "TYPE_MISMATCH"
  | "TOO_LARGE"
  | "EMPTY_FILE"
  | "ENCRYPTED_ARCHIVE"
  | "ARCHIVE_LIMIT";

export type FailureReason = { code: FailureCode; message: string };

export type WarningCode =
  | "RESTRICTED_FILE"
  | "DAMAGED_FILE"
  | "EXTERNAL_LINK"
  | "NETWORK_FORMULA"
  | "OTHER_FILE_TYPE"
  | "UNREADABLE_PART"
  | "HIDDEN_TEXT";

/** Something unusual about a file that is accepted. */
export type Warning = { code: WarningCode; message: string };

/** The result of a scan. Infected: malware was found. Rejected: the file holds something dangerous. */
export type Verdict =
  | { status: "Available"; warnings: readonly Warning[] }
  | { status: "Infected" | "Rejected"; failureReasons: FailureReason[] };

/** Scans files. It throws when it cannot reach a verdict; the scan can then be retried. */
export type Scanner = { scan(file: ScannedFile): Promise<Verdict> };

/** Thrown inside a scanner when a file is refused; `toVerdict` turns it into a verdict. */
export class Refusal extends Error {
  readonly code: FailureCode;

  constructor(code: FailureCode, message: string) {
    super(message);
    this.code = code;
  }
}

/** Runs an inspection and returns its verdict; errors other than a Refusal pass through. */
export const toVerdict = async (inspect: () => Promise<Verdict>): Promise<Verdict> => {
  try {
    return await inspect();
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    const { code, message } = error;
    const status = code === "MALWARE_DETECTED" ? "Infected" : "Rejected";
    return { status, failureReasons: [{ code, message }] };
  }
};
