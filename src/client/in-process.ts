import { setImmediate } from "node:timers/promises";
import { readBody } from "./body.ts";
import { getAbortReason } from "./deadline.ts";
import type { Transport } from "./port.ts";

export type InProcessNeeds = {
  fetch: (request: Request) => Promise<Response>;
  requestMs: number;
  maxAnswerBytes?: number;
};

const MAX_ANSWER_BYTES = 64 * 1024 * 1024;
const ORIGIN = "http://localhost";

/** The platform in this process: the same requests and answers, no socket. */
export const createInProcessTransport = ({
  fetch,
  requestMs,
  maxAnswerBytes = MAX_ANSWER_BYTES,
}: InProcessNeeds): Transport => ({
  // Request refuses a body on GET.
  getWithBody: false,
  requestMs,
  async send(request) {
    const { method, headers, body, signal } = request;
    if (signal.aborted) throw getAbortReason(signal);
    const answer = await fetch(
      new Request(ORIGIN + request.target, { method, headers, body, signal }),
    );
    const head = { status: answer.status, headers: Object.fromEntries(answer.headers) };
    const read = await readBody(request, head, answer.body, maxAnswerBytes);
    // The platform may have written a long answer in this turn of the event loop; others come before it is parsed.
    await setImmediate();
    return { ...head, ...read };
  },
  close: async () => {},
});
