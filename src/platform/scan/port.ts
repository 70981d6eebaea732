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

/** The result of a scan. Infected: malware was found. Rejected: the type or structure is not allowed. */
export type Verdict =
  | { status: "Available" }
  | { status: "Infected" | "Rejected"; failureReasons: FailureReason[] };

/** Scans files. It throws when it cannot reach a verdict; the scan can then be retried. */
export type Scanner = { scan(file: ScannedFile): Promise<Verdict> };

/** Thrown inside a scanner when a file is refused; `toVerdict` turns it into a verdict. */
export class Refusal extends Error {
  readonly code: FailureCode;

  constructor(code: FailureCode, message: string) {
    super(message);
    this.name = "Refusal";
    this.code = code;
  }
}

/** Runs an inspection and returns its verdict; errors other than a Refusal pass through. */
export const toVerdict = async (inspect: () => Promise<Verdict | void>): Promise<Verdict> => {
  try {
    return (await inspect()) ?? { status: "Available" };
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    const { code, message } = error;
    const status = code === "MALWARE_DETECTED" ? "Infected" : "Rejected";
    return { status, failureReasons: [{ code, message }] };
  }
};
