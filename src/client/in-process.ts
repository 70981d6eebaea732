import { setImmediate } from "node:timers/promises";
import { findText } from "../kit/known-text.ts";
import { readBody } from "./body.ts";
import { getAbortReason } from "./deadline.ts";
import { TransportFault } from "./fault.ts";
import type { Transport } from "./port.ts";

export type InProcessNeeds = {
  fetch: (request: Request) => Promise<Response>;
  requestMs: number;
};

const MAX_ANSWER_BYTES = 64 * 1024 * 1024;
const ORIGIN = "http://localhost";
/** Longest text, in characters, that is parsed without letting others run first. */
const SHORT_ANSWER = 16_384;

/** An answer that ends midway is one of a lost connection, as it is over HTTP. @throws {TransportFault} */
const toFault = (error: unknown): never => {
  throw error instanceof TransportFault ? error : new TransportFault("lost", error);
};

/** The platform in this process: the same requests and answers, no socket. */
export const createInProcessTransport = ({ fetch, requestMs }: InProcessNeeds): Transport => ({
  // Request refuses a body on GET.
  getWithBody: false,
  requestMs,
  async send(request) {
    const { method, headers, body, signal } = request;
    if (signal.aborted) throw getAbortReason(signal);
    const sent = new Request(ORIGIN + request.target, { method, headers, body });
    // As an option, Request would create a second signal that follows this one, which doubles its cost.
    Object.defineProperty(sent, "signal", { value: signal });
    const answer = await fetch(sent);
    const head = { status: answer.status, headers: Object.fromEntries(answer.headers) };
    const text = findText(answer);
    if (text !== undefined && text.length <= SHORT_ANSWER) return { ...head, body: text };
    const read = await readBody(request, head, answer.body, MAX_ANSWER_BYTES).catch(toFault);
    // The platform may have written a long answer in this turn of the event loop; others come before it is parsed.
    await setImmediate();
    return { ...head, ...read };
  },
  close: async () => {},
});
