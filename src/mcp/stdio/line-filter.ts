import { Transform } from "node:stream";

const NEWLINE = "\n".charCodeAt(0);

type LineChecks = {
  maxBytes: number;
  /** Called for each dropped line of more than `maxBytes`. */
  onTooLong: () => void;
  /** Returns whether a line is passed on. */
  accept: (line: string) => boolean;
};

/** Passes on whole lines, those that are short enough and acceptable. */
export const createLineFilter = ({ maxBytes, onTooLong, accept }: LineChecks): Transform => {
  let parts: Buffer[] = [];
  let bytes = 0;
  const add = (part: Buffer): void => {
    bytes += part.length;
    if (bytes > maxBytes) parts = [];
    else parts.push(part);
  };
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      let from = 0;
      for (let at = chunk.indexOf(NEWLINE); at !== -1; at = chunk.indexOf(NEWLINE, from)) {
        add(chunk.subarray(from, at + 1));
        const line = Buffer.concat(parts);
        if (bytes > maxBytes) onTooLong();
        else if (accept(line.toString("utf8"))) this.push(line);
        parts = [];
        bytes = 0;
        from = at + 1;
      }
      add(chunk.subarray(from));
      done();
    },
  });
};
