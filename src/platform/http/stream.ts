import { serializeRows } from "../json-rows.ts";
import { MINUTE, SECOND } from "../../kit/clock.ts";
import type { Listing, Page } from "../handlers.ts";

const encoder = new TextEncoder();

/** The text before and after the rows of a list. */
export type Frame = [before: string, after: string];

/** Yields rows as one JSON array within its frame; a short list is a single piece. */
export async function* streamArray(
  rows: Listing<unknown>["rows"],
  [before, after]: Frame,
): AsyncGenerator<Uint8Array> {
  let text = "";
  let opening = before;
  for await (const piece of serializeRows(rows)) {
    if (text !== "") yield encoder.encode(text);
    text = opening + piece;
    opening = "";
  }
  yield encoder.encode(`${opening}${text}${after}`);
}

/** Yields a page as one JSON object. */
export async function* streamPage({
  head,
  data,
  pagination,
}: Page<object>): AsyncGenerator<Uint8Array> {
  const fields = JSON.stringify(head).slice(1, -1);
  yield encoder.encode(`{${fields}${fields === "" ? "" : ","}"data":[`);
  yield* data;
  yield encoder.encode(`],"pagination":${JSON.stringify(pagination())}}`);
}

/** Maximum time in milliseconds that a response may use a view of the store. */
export const VIEW_MS = 30 * SECOND;

/** A client may pause, but its average speed and total time are limited. */
const READING = { graceMs: 20 * SECOND, bytesPerSecond: 32 * 1024, totalMs: 10 * MINUTE };

/** Returns the time in milliseconds that a client has to read so many bytes. */
const computeAllowedMs = (bytes: number): number =>
  Math.min(READING.totalMs, READING.graceMs + (bytes / READING.bytesPerSecond) * SECOND);

/** The client has read too slowly. */
export class SlowReader extends Error {
  constructor() {
    super("the client reads too slowly");
    this.name = "SlowReader";
  }
}

/** Resets the connection of a response that cannot be completed. */
export type Cut = (error: unknown) => void;

type Ending = {
  /** Releases the source. */
  close?: (() => Promise<void>) | undefined;
  cut?: Cut | undefined;
  /** Called with the number of bytes that were produced. */
  done: (bytes: number) => void;
};

/**
 * Returns a body that is produced as fast as the client reads. After a failure, or if the client is too slow, the
 * connection is reset by `cut`; without a connection the body fails. The source is closed in any case.
 */
export const createStreamBody = (
  pieces: AsyncGenerator<Uint8Array>,
  { close, cut, done: report }: Ending,
): ReadableStream<Uint8Array> => {
  const began = performance.now();
  let bytes = 0;
  let timer: NodeJS.Timeout | undefined;
  let hasEnded = false;
  const end = async (): Promise<void> => {
    clearTimeout(timer);
    if (!hasEnded) report(bytes);
    hasEnded = true;
    await pieces.return(undefined);
    await close?.();
  };
  const fail = (controller: ReadableStreamDefaultController, error: unknown): void => {
    if (cut === undefined) controller.error(error);
    else cut(error);
  };
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      clearTimeout(timer);
      try {
        const { done, value } = await pieces.next();
        if (done === true) {
          await end();
          controller.close();
          return;
        }
        bytes += value.byteLength;
        controller.enqueue(value);
      } catch (error) {
        await end();
        fail(controller, error);
        return;
      }
      timer = setTimeout(
        () => {
          fail(controller, new SlowReader());
          void end();
        },
        began + computeAllowedMs(bytes) - performance.now(),
      );
      timer.unref();
    },
    cancel: end,
  });
};

/** Returns the bytes of a file as a body. After a read error the response is cut like that of {@link createStreamBody}. */
export const createFileBody = (
  bytes: ReadableStream<Uint8Array>,
  { cut, done: report }: Omit<Ending, "close">,
): ReadableStream<Uint8Array> => {
  const reader = bytes.getReader();
  let count = 0;
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      try {
        const { done, value } = await reader.read();
        if (done) {
          report(count);
          controller.close();
          return;
        }
        count += value.byteLength;
        controller.enqueue(value);
      } catch (error) {
        report(count);
        if (cut === undefined) controller.error(error);
        else cut(error);
      }
    },
    cancel(reason) {
      report(count);
      return reader.cancel(reason);
    },
  });
};
