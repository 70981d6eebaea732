import { serializeRows } from "../json-rows.ts";
import { MINUTE, SECOND } from "../../kit/clock.ts";
import type { Listing, Page } from "../handlers.ts";
import type { Spool } from "./spool.ts";

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

/** A slow client's answer is read to its end by then, well before the view of the store expires. */
const SPOOL_AFTER_MS = 10 * SECOND;

/** A client may pause, but its average speed and total time are limited. */
const READING = { graceMs: 20 * SECOND, bytesPerSecond: 32 * 1024, totalMs: 30 * MINUTE };

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

/** Reads the rest of a slow client's answer into a file, then releases its source; undefined if there is no room. */
export type Spooling = (
  pieces: AsyncGenerator<Uint8Array>,
  release: () => Promise<void>,
) => Promise<Spool> | undefined;

type Ending = {
  /** Releases the source. */
  close?: (() => Promise<void>) | undefined;
  spool?: Spooling | undefined;
  cut?: Cut | undefined;
  /** Called with the number of bytes that were produced. */
  done: (bytes: number) => void;
};

/** The pieces of an answer, from their source or from the file that holds the rest of them. */
const openSource = (
  pieces: AsyncGenerator<Uint8Array>,
  { close, spool }: Pick<Ending, "close" | "spool">,
) => {
  let rest: Promise<Spool> | undefined;
  const timer = setTimeout(() => {
    rest = spool?.(pieces, async () => close?.());
    // The next read reports the failure.
    rest?.catch(() => {});
  }, SPOOL_AFTER_MS);
  timer.unref();
  return {
    async next(): Promise<Uint8Array | undefined> {
      if (rest !== undefined) return (await rest).next();
      const { done, value } = await pieces.next();
      return done === true ? undefined : value;
    },
    async close(): Promise<void> {
      clearTimeout(timer);
      await pieces.return(undefined);
      await close?.();
      await (await rest?.catch(() => undefined))?.close();
    },
  };
};

/**
 * Returns a body that is produced as fast as the client reads. After a failure, or if the client is too slow, the
 * connection is reset by `cut`; without a connection the body fails. The source is closed in any case.
 */
export const createStreamBody = (
  pieces: AsyncGenerator<Uint8Array>,
  { cut, done: report, ...ending }: Ending,
): ReadableStream<Uint8Array> => {
  const began = performance.now();
  const source = openSource(pieces, ending);
  let bytes = 0;
  let timer: NodeJS.Timeout | undefined;
  let hasEnded = false;
  const end = async (): Promise<void> => {
    clearTimeout(timer);
    if (hasEnded) return;
    hasEnded = true;
    report(bytes);
    await source.close();
  };
  // The first failure is the one to report: a source that cannot be read may refuse to be closed too.
  const endFailed = (): Promise<void> => end().catch(() => {});
  const fail = (controller: ReadableStreamDefaultController, error: unknown): void => {
    if (cut === undefined) controller.error(error);
    else cut(error);
  };
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      clearTimeout(timer);
      try {
        const piece = await source.next();
        if (piece === undefined) {
          await end();
          controller.close();
          return;
        }
        bytes += piece.byteLength;
        controller.enqueue(piece);
      } catch (error) {
        await endFailed();
        fail(controller, error);
        return;
      }
      timer = setTimeout(
        () => {
          fail(controller, new SlowReader());
          void endFailed();
        },
        began + computeAllowedMs(bytes) - performance.now(),
      );
      timer.unref();
    },
    cancel: end,
  });
};

async function* readPieces(
  reader: ReadableStreamDefaultReader<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    yield value;
  }
}

/** Returns the bytes of a file as a body with the limits of {@link createStreamBody}. */
export const createFileBody = (
  bytes: ReadableStream<Uint8Array>,
  ending: Pick<Ending, "cut" | "done">,
): ReadableStream<Uint8Array> => {
  const reader = bytes.getReader();
  return createStreamBody(readPieces(reader), { ...ending, close: () => reader.cancel() });
};
