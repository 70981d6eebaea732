import { jsonRows } from "../json-rows.ts";
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

// A receiver that stops reading must not hold a view of the store for ever.
const STALLED_MS = 60_000;

/** Pieces as a body, made as fast as the receiver reads; closes what they are read from however it ends. */
export const streamed = (
  pieces: AsyncGenerator<Uint8Array>,
  close?: () => Promise<void>,
): ReadableStream<Uint8Array> => {
  let stalled: NodeJS.Timeout | undefined;
  const end = async (): Promise<void> => {
    clearTimeout(stalled);
    await pieces.return(undefined);
    await close?.();
  };
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      clearTimeout(stalled);
      try {
        const { done, value } = await pieces.next();
        if (done === true) {
          await end();
          controller.close();
          return;
        }
        controller.enqueue(value);
      } catch (error) {
        await end();
        throw error;
      }
      stalled = setTimeout(() => {
        controller.error(new Error("the receiver stopped reading"));
        void end();
      }, STALLED_MS);
      stalled.unref();
    },
    cancel: end,
  });
};
