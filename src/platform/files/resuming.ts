import type { Readable } from "node:stream";

type Opened = { size: number; body: Readable };

type Needs = {
  /** Opens the bytes from an offset to the end, with the number of them; undefined if there is no such object. */
  get(from: number): Promise<Opened | undefined>;
  /** The largest number of attempts without a byte between them. */
  attempts: number;
  toError(cause: unknown): Error;
};

/** Between two reads an error of the body has no listener; the next read reports it. */
const ignoreErrors = ({ body }: Opened): void => void body.on("error", () => {});

/** Opens an object; a body that is cut off or stalls is continued from where it ended. */
export const openResuming = async ({
  get,
  attempts,
  toError,
}: Needs): Promise<{ size: number; bytes: ReadableStream<Uint8Array> } | undefined> => {
  const first = await get(0);
  if (first === undefined) return undefined;
  ignoreErrors(first);
  const { size } = first;
  let { body } = first;
  let pieces: AsyncIterator<Uint8Array> = body[Symbol.asyncIterator]();
  let at = 0;
  let failures = 0;

  const read = async (): Promise<Uint8Array | undefined> => {
    const { done, value } = await pieces.next();
    if (done !== true) return value;
    if (at === size) return undefined;
    throw new Error(`the body ended after ${at} of ${size} bytes`);
  };

  const reopen = async (): Promise<void> => {
    body.destroy();
    const rest = await get(at);
    if (rest === undefined) throw new Error("the object was removed while it was read");
    ignoreErrors(rest);
    ({ body } = rest);
    pieces = body[Symbol.asyncIterator]();
  };

  const readOrResume = async (): Promise<Uint8Array | undefined> => {
    for (;;) {
      try {
        // oxlint-disable-next-line no-await-in-loop -- one attempt after the other
        const piece = await read();
        failures = 0;
        at += piece?.byteLength ?? 0;
        return piece;
      } catch (error) {
        failures += 1;
        if (failures >= attempts) throw error;
        // oxlint-disable-next-line no-await-in-loop -- one attempt after the other
        await reopen();
      }
    }
  };

  const bytes = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          const piece = await readOrResume();
          if (piece === undefined) controller.close();
          else controller.enqueue(piece);
        } catch (error) {
          body.destroy();
          controller.error(toError(error));
        }
      },
      cancel() {
        body.destroy();
      },
    },
    { highWaterMark: 0 },
  );
  return { size, bytes };
};
