import { Problem } from "../../../contract/errors.ts";
import { toErrorFields, type Log } from "../../../kit/log.ts";
import type { FileStore } from "../../files/port.ts";
import type { Scanner, Verdict } from "../../scan/port.ts";

type ScanNeeds = { files: FileStore; scanner: Scanner; log: Log };

const RETRY_SECONDS = 10;

const scan = async (
  { files, scanner, log }: ScanNeeds,
  { key, size }: { key: string; size: number },
): Promise<Verdict> => {
  const open = async (): Promise<ReadableStream<Uint8Array>> => {
    const file = await files.open(key);
    if (file === undefined) throw new Error("the file to scan is lost");
    return file.bytes;
  };
  try {
    return await scanner.scan({ fileName: "document.pdf", size, open });
  } catch (error) {
    log.warn("scan.failed", toErrorFields(error));
    const details = { retryAfterSeconds: RETRY_SECONDS };
    throw new Problem("unavailable", "The file cannot be scanned now.", details, error);
  }
};

/** Scans a file before it is stored. @throws {Problem} if the scanner refuses it */
export const checkScan = async (
  needs: ScanNeeds,
  file: { key: string; size: number },
): Promise<void> => {
  const verdict = await scan(needs, file);
  if (verdict.status === "Available") return;
  throw new Problem("invalid_request", "The body is refused by the scanner.", {
    errors: verdict.failureReasons.map(({ code, message }) => ({
      field: "",
      code: code.toLowerCase(),
      message,
    })),
  });
};
