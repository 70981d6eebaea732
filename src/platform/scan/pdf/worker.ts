import { parentPort } from "node:worker_threads";
import { Refusal, type FailureReason } from "../port.ts";
import { checkReading } from "./document.ts";
import { createUnreadableRefusal } from "./lexer.ts";
import { checkObjects } from "./objects.ts";

/** The thread's reply: the number of unpacked bytes, or the refusal. */
export type PdfReply = { unpacked: number } | FailureReason;

const check = async (data: Uint8Array): Promise<PdfReply> => {
  try {
    const unpacked = checkObjects(Buffer.from(data.buffer, data.byteOffset, data.byteLength));
    await checkReading(data);
    return { unpacked };
  } catch (error) {
    const { code, message } = error instanceof Refusal ? error : createUnreadableRefusal();
    return { code, message };
  }
};

parentPort?.on("message", (data: Uint8Array) => {
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, not a window
  void check(data).then((reply) => parentPort?.postMessage(reply));
});
