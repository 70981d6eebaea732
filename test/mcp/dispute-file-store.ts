import { buffer } from "node:stream/consumers";
import type { Transfers } from "../../src/client/transfers.ts";
import { createDisputeFile } from "./records.ts";
import type { ScriptedReply } from "./script.ts";

export const DOWNLOAD_URL = "https://files.example/downloads/file-1?sig=s";

/** Returns a file whose scan is finished at the n-th read. */
export const scannedAfter = (
  reads: number,
  more: Parameters<typeof createDisputeFile>[1] = {},
): ScriptedReply => {
  let read = 0;
  return () => {
    read += 1;
    return read < reads
      ? createDisputeFile(1, { status: "PendingScan", downloadUrl: "" })
      : createDisputeFile(1, { downloadUrl: DOWNLOAD_URL, ...more });
  };
};

/** Creates a fake file store behind signed URLs. It records the requests and returns one content. */
export const createFileStore = (content: Uint8Array = Buffer.from(""), mimeType = "text/plain") => {
  const requests: { url: string; text: string }[] = [];
  const transfers: Transfers = {
    async put(url, { size, bytes }) {
      const whole = bytes instanceof Uint8Array ? Buffer.from(bytes) : await buffer(bytes);
      if (whole.byteLength !== size) throw new Error(`${whole.byteLength} bytes for ${size}`);
      requests.push({ url, text: whole.toString("utf8") });
    },
    async get(url, { maxBytes, part }) {
      requests.push({ url, text: "" });
      const fits = content.byteLength <= maxBytes;
      const bytes = fits || part ? content.subarray(0, maxBytes) : undefined;
      return { mimeType, fileSize: content.byteLength, bytes };
    },
  };
  return { requests, transfers };
};
