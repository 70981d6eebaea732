import { SaxesParser } from "saxes";

/** Attributes by their local names in lower case. */
export type XmlAttributes = Readonly<Record<string, string>>;

export type XmlHandlers = {
  /** Receives an element's local name in lower case. */
  open(name: string, attributes: XmlAttributes): void;
  /** Receives text with the local name of its element. */
  text?(name: string, content: string): void;
  close?(name: string): void;
};

/** Returns a name in lower case without its prefix, which the writer of a file chooses. */
const toLocal = (name: string): string => name.slice(name.lastIndexOf(":") + 1).toLowerCase();

const toAttributes = (attributes: Readonly<Record<string, unknown>>): XmlAttributes =>
  Object.fromEntries(
    Object.entries(attributes).map(([name, value]) => [toLocal(name), String(value)]),
  );

const DECLARED = /^[^<]{0,16}<\?xml\s[^>]{0,200}?encoding\s{0,20}=\s{0,20}["']([\w.:-]{1,40})["']/;

const createDecoder = (head: Buffer) => {
  const start = head.toString("hex", 0, 4);
  if (/^(?:fffe|3c00)/.test(start)) return new TextDecoder("utf-16le");
  if (/^(?:feff|003c)/.test(start)) return new TextDecoder("utf-16be");
  return new TextDecoder(DECLARED.exec(head.toString("latin1", 0, 300))?.[1] ?? "utf-8");
};

/**
 * Parses XML as a stream. Errors that the parser survives are ignored.
 *
 * @throws {Error} for a document type, binary data, and encodings that cannot be decoded
 */
export const readXml = async (
  pieces: AsyncIterable<Buffer>,
  { open, text, close }: XmlHandlers,
): Promise<void> => {
  let decoder: ReturnType<typeof createDecoder> | undefined;
  const names: string[] = [];
  const parser = new SaxesParser({ position: false });
  parser.on("error", () => {});
  parser.on("doctype", () => {
    throw new Error("the XML has a document type");
  });
  parser.on("opentag", ({ name, attributes }) => {
    names.push(toLocal(name));
    open(toLocal(name), toAttributes(attributes));
  });
  const write = (content: string) => text?.(names.at(-1) ?? "", content);
  parser.on("text", write);
  parser.on("cdata", write);
  parser.on("closetag", () => close?.(names.pop() ?? ""));
  for await (const piece of pieces) {
    decoder ??= createDecoder(piece);
    const content = decoder.decode(piece, { stream: true });
    if (content.includes("\0")) throw new Error("the XML holds binary data");
    parser.write(content);
  }
  parser.write(decoder?.decode() ?? "").close();
};
