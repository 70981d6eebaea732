import { parentPort } from "node:worker_threads";
import { Refusal, type FailureReason } from "../port.ts";
import { checkReading } from "./document.ts";
import { unreadable } from "./lexer.ts";
import { checkObjects } from "./objects.ts";

/** What the thread answers: how many bytes it unpacked, or why the PDF is refused. */
export type PdfReply = { unpacked: number } | FailureReason;

const check = async (data: Uint8Array): Promise<PdfReply> => {
  try {
    const unpacked = checkObjects(Buffer.from(data.buffer, data.byteOffset, data.byteLength));
    await checkReading(data);
    return { unpacked };
  } catch (error) {
    const { code, message } = error instanceof Refusal ? error : unreadable();
    return { code, message };
  }
};

parentPort?.on("message", (data: Uint8Array) => {
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, not a window
  void check(data).then((reply) => parentPort?.postMessage(reply));
});
