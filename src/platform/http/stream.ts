import { jsonRows } from "../json-rows.ts";
import { MINUTE, SECOND } from "../../kit/clock.ts";
import type { Listing, Page } from "../handlers.ts";

const encoder = new TextEncoder();

/** What stands before the rows of a list, and after them. */
export type Frame = [before: string, after: string];

/** Rows as one JSON array, in what it stands in; a short one is a single piece. */
export async function* arrayBytes(
  rows: Listing<unknown>["rows"],
  [before, after]: Frame,
): AsyncGenerator<Uint8Array> {
  let text = "";
  let opening = before;
  for await (const piece of jsonRows(rows)) {
    if (text !== "") yield encoder.encode(text);
    text = opening + piece;
    opening = "";
  }
  yield encoder.encode(`${opening}${text}${after}`);
}

/** A page as one JSON object. */
export async function* pageBytes({
  head,
  data,
  pagination,
}: Page<object>): AsyncGenerator<Uint8Array> {
  const fields = JSON.stringify(head).slice(1, -1);
  yield encoder.encode(`{${fields}${fields === "" ? "" : ","}"data":[`);
  yield* data;
  yield encoder.encode(`],"pagination":${JSON.stringify(pagination())}}`);
}

/** How long an answer may hold a view of the store, in milliseconds. */
export const VIEW_MS = 30 * SECOND;

/** A receiver may pause, but on average it must read this fast, and be done in time. */
const RECEIVING = { graceMs: 20 * SECOND, bytesPerSecond: 32 * 1024, totalMs: 10 * MINUTE };

/** How long after its start a receiver may take to read so many bytes, in milliseconds. */
const allowedMs = (bytes: number): number =>
  Math.min(RECEIVING.totalMs, RECEIVING.graceMs + (bytes / RECEIVING.bytesPerSecond) * SECOND);

/**
 * Pieces as a body, made as fast as the receiver reads. It is cut off when the receiver is too slow, and closes the
 * source of the pieces however it ends.
 */
export const streamed = (
  pieces: AsyncGenerator<Uint8Array>,
  close?: () => Promise<void>,
): ReadableStream<Uint8Array> => {
  const began = performance.now();
  let bytes = 0;
  let timer: NodeJS.Timeout | undefined;
  const end = async (): Promise<void> => {
    clearTimeout(timer);
    await pieces.return(undefined);
    await close?.();
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
        throw error;
      }
      timer = setTimeout(
        () => {
          controller.error(new Error("the receiver reads too slowly"));
          void end();
        },
        began + allowedMs(bytes) - performance.now(),
      );
      timer.unref();
    },
    cancel: end,
  });
};
