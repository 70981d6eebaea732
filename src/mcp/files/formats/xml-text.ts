import { SaxesParser, type SaxesTagPlain } from "saxes";
import { Unreadable } from "../port.ts";

const MAX_DEPTH = 500;

export type Handlers = {
  open(name: string, attributes: Readonly<Record<string, string>>): void;
  close(name: string): void;
  text(text: string): void;
  /** Whether the rest is of no interest. */
  isDone?(): boolean;
};

/** The name of an element without its prefix. */
const localName = (name: string): string => name.slice(name.indexOf(":") + 1);

/** Reads XML piece by piece; entities of its own are not known, so that none can grow. @throws {Unreadable} */
export const parseXml = async (
  pieces: AsyncIterable<Uint8Array>,
  { open, close, text, isDone }: Handlers,
): Promise<void> => {
  const parser = new SaxesParser({ xmlns: false });
  const decoder = new TextDecoder("utf-8");
  let depth = 0;
  parser.on("opentag", ({ name, attributes }: SaxesTagPlain) => {
    depth += 1;
    if (depth > MAX_DEPTH) throw new Unreadable("Its contents are nested too deep.");
    open(localName(name), attributes);
  });
  parser.on("closetag", ({ name }: SaxesTagPlain) => {
    depth -= 1;
    close(localName(name));
  });
  parser.on("text", text);
  parser.on("cdata", text);
  try {
    for await (const piece of pieces) {
      parser.write(decoder.decode(piece, { stream: true }));
      if (isDone?.() === true) return;
    }
    parser.close();
  } catch (error) {
    if (error instanceof Unreadable) throw error;
    throw new Unreadable("The file is damaged: a part of it is no XML.");
  }
};
