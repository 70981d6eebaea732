import { parentPort } from "node:worker_threads";
import { getMessage } from "../../kit/error.ts";
import { type FileText, type TextReply, type TextRequest, Unreadable } from "./port.ts";
import { readFileText } from "./read-file.ts";

/** After so many milliseconds no further page or sheet is begun, so that what was read is answered. */
const ENOUGH_MS = 6000;

const TOO_LARGE = "The file is damaged, or reading it takes too much memory.";

/** Whether a program of WebAssembly has ended, or memory is exhausted; the thread is of no further use then. */
const isExhausted = (error: unknown): boolean =>
  error instanceof Error && (error.name === "RuntimeError" || error instanceof RangeError);

const toReply = async (request: TextRequest): Promise<TextReply> => {
  const end = performance.now() + ENOUGH_MS;
  try {
    return { text: await readFileText(request, () => performance.now() > end) };
  } catch (error) {
    if (error instanceof Unreadable) return { unreadable: error.message };
    return isExhausted(error) ? { unreadable: TOO_LARGE } : { failure: getMessage(error) };
  }
};

const buffersOf = ({ pictures }: FileText): ArrayBuffer[] =>
  pictures.map(({ data }) => data.buffer);

const answer = async (request: TextRequest): Promise<void> => {
  const reply = await toReply(request);
  parentPort?.postMessage(reply, "text" in reply ? buffersOf(reply.text) : []);
};

parentPort?.on("message", (request: TextRequest) => void answer(request));
