/** A file that somebody has handed in. Its bytes can be read more than once; who opens them reads or cancels them. */
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

/** What a scan found: Infected holds malware, Rejected is not the kind of file that may be kept. */
export type Verdict =
  | { status: "Available" }
  | { status: "Infected" | "Rejected"; failureReasons: FailureReason[] };

/** Judges files. It throws where it could not come to a verdict; the same file may then be tried again. */
export type Scanner = { scan(file: ScannedFile): Promise<Verdict> };

/** Thrown within a scanner as soon as a file is refused; it never leaves the scanner. */
export class Refusal extends Error {
  readonly code: FailureCode;

  constructor(code: FailureCode, message: string) {
    super(message);
    this.name = "Refusal";
    this.code = code;
  }
}

/** The verdict of what was run; a failure that is no refusal stays one. */
export const verdictOf = async (inspect: () => Promise<void>): Promise<Verdict> => {
  try {
    await inspect();
    return { status: "Available" };
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    const { code, message } = error;
    const status = code === "MALWARE_DETECTED" ? "Infected" : "Rejected";
    return { status, failureReasons: [{ code, message }] };
  }
};
