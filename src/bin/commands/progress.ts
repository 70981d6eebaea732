import type { WriteStream } from "node:tty";
import { Presets, SingleBar } from "cli-progress";
import { type Clock, SECOND } from "../../kit/clock.ts";
import type { Fields, Log } from "../../kit/log.ts";
import type { LoadStep } from "../../platform/demo/load.ts";

/** Progress of a long command. */
export type Progress = {
  at(bytes: number, counts: Fields & { read: number }): void;
  end(): void;
};

const LINE_EVERY_MS = 2 * SECOND;

const openBar = (stream: NodeJS.WritableStream, format: string): SingleBar =>
  new SingleBar(
    { stream, format, clearOnComplete: true, hideCursor: true },
    Presets.shades_classic,
  );

const createBar = (stream: NodeJS.WritableStream, size: number | undefined): Progress => {
  const rows = "{read} rows, {duration_formatted}";
  const shown = openBar(stream, size === undefined ? rows : `{bar} {percentage}% | ${rows}`);
  shown.start(size ?? 0, 0, { read: 0 });
  return {
    at: (bytes, { read }) => {
      shown.update(bytes, { read });
    },
    end: () => {
      shown.stop();
    },
  };
};

const createLogLines = (log: Log, clock: Clock, size: number | undefined): Progress => {
  let last = clock();
  return {
    at(bytes, counts) {
      if (clock() - last < LINE_EVERY_MS) return;
      last = clock();
      const percent =
        size === undefined ? undefined : Math.floor((100 * bytes) / Math.max(1, size));
      log.info("import.progress", { percent, ...counts });
    },
    end() {},
  };
};

/** Shows the steps of the creation of the demo tenant: a bar on a person's terminal, else a line of the log. */
export const createStepProgress = ({
  stream,
  isPerson,
  log,
}: {
  stream: NodeJS.WritableStream;
  isPerson: boolean;
  log: Log;
}): { at(step: LoadStep): void; end(): void } => {
  let bar: SingleBar | undefined;
  return {
    at({ name, done, total }) {
      if (!isPerson) {
        if (done === 0) log.info("demo.creating");
        return;
      }
      if (bar === undefined) {
        bar = openBar(stream, "  Creating the demo tenant {bar} {percentage}% | {name}");
        bar.start(total, done, { name });
      }
      bar.update(done, { name });
    },
    end() {
      bar?.stop();
    },
  };
};

type Needs = {
  stream: NodeJS.WritableStream & Partial<Pick<WriteStream, "isTTY">>;
  log: Log;
  clock: Clock;
  /** Size in bytes; undefined for a pipe. */
  size: number | undefined;
};

/** Shows a bar on a terminal, else logs a line every few seconds. */
export const createProgress = ({ stream, log, clock, size }: Needs): Progress =>
  stream.isTTY === true ? createBar(stream, size) : createLogLines(log, clock, size);
