import type { Readable } from "node:stream";

type Opened = { size: number; body: Readable };

type Needs = {
  /** Opens the bytes from an offset to the end, with the number of them; undefined if there is no such object. */
  get(from: number): Promise<Opened | undefined>;
  /** The largest number of attempts without a byte between them. */
  attempts: number;
  toError(cause: unknown): Error;
};

/** Reads pieces of one body. Between two reads an error of the body has no listener; the next read reports it. */
const startReading = (body: Readable) => {
  body.on("error", () => {});
  const pieces: AsyncIterator<Uint8Array> = body[Symbol.asyncIterator]();
  return {
    next: async (): Promise<Uint8Array | undefined> => {
      const { done, value } = await pieces.next();
      return done === true ? undefined : value;
    },
    end: () => void body.destroy(),
  };
};

/** Returns a reader of the pieces of an object, which opens the rest of it where a body is cut off or stalls. */
const createResumingReader = ({ size, body }: Opened, { get, attempts }: Needs) => {
  let reading = startReading(body);
  let at = 0;
  let failures = 0;

  const read = async (): Promise<Uint8Array | undefined> => {
    const piece = await reading.next();
    if (piece === undefined && at !== size) {
      throw new Error(`the body ended after ${at} of ${size} bytes`);
    }
    failures = 0;
    at += piece?.byteLength ?? 0;
    return piece;
  };

  return {
    end: () => reading.end(),
    async next(): Promise<Uint8Array | undefined> {
      for (;;) {
        try {
          return await read();
        } catch (error) {
          failures += 1;
          if (failures >= attempts) throw error;
          reading.end();
          const rest = await get(at);
          if (rest === undefined) throw error;
          reading = startReading(rest.body);
        }
      }
    },
  };
};

/** Opens an object; a body that is cut off or stalls is continued from where it ended. */
export const openResuming = async (
  needs: Needs,
): Promise<{ size: number; bytes: ReadableStream<Uint8Array> } | undefined> => {
  const first = await needs.get(0);
  if (first === undefined) return undefined;
  const reader = createResumingReader(first, needs);
  const bytes = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          const piece = await reader.next();
          if (piece === undefined) controller.close();
          else controller.enqueue(piece);
        } catch (error) {
          reader.end();
          controller.error(needs.toError(error));
        }
      },
      cancel: () => reader.end(),
    },
    { highWaterMark: 0 },
  );
  return { size: first.size, bytes };
};
