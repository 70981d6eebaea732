import sax from "sax";
import { malformed } from "./file.ts";

/** An element without its namespace's prefix; `text` is what stands directly in it. */
export type Element = {
  name: string;
  attributes: Readonly<Record<string, string>>;
  text: string;
  children: Element[];
  parent: Element | undefined;
  line: number;
};

const MOST_DEPTH = 50;
const LONGEST_TEXT = 100_000;

const local = (name: string): string => name.slice(name.indexOf(":") + 1);

/**
 * Reads XML as it comes. `closed` is given each element when it ends; what it takes out of its parent's
 * children is forgotten. No entity but XML's own five means anything, and a document type is refused.
 */
export const createXmlReader = (closed: (element: Element) => void) => {
  const options = { strictEntities: true, position: true };
  const parser = sax.parser(true, options);
  let open: Element | undefined;
  let depth = 0;
  const place = (): string => `line ${parser.line + 1}`;
  const refuse = (message: string): never => {
    throw malformed(place(), message);
  };
  const opened = ({ name, attributes }: sax.Tag | sax.QualifiedTag): void => {
    depth += 1;
    if (depth > MOST_DEPTH) refuse(`is nested deeper than ${MOST_DEPTH} levels`);
    const element: Element = {
      name: local(name),
      attributes: attributes as Record<string, string>,
      text: "",
      children: [],
      parent: open,
      line: parser.line + 1,
    };
    open?.children.push(element);
    open = element;
  };
  const addText = (text: string): void => {
    if (open === undefined) return;
    open.text += text;
    if (open.text.length > LONGEST_TEXT) refuse("holds a text that is too long");
  };
  const ended = (): void => {
    const element = open;
    open = element?.parent;
    depth -= 1;
    if (element !== undefined) closed(element);
  };
  Object.assign(parser, {
    onopentag: opened,
    ontext: addText,
    oncdata: addText,
    onclosetag: ended,
    onerror: ({ message }: Error) => refuse(`is not well-formed XML: ${message.split("\n")[0]}`),
    ondoctype: () => refuse("declares a document type, which no such message has"),
  });
  return {
    write: (text: string): void => void parser.write(text),
    end: (): void => void parser.close(),
  };
};

/** Forgets an element, so that a long document is never held whole. */
export const forget = (element: Element): void => {
  const siblings = element.parent?.children;
  const place = siblings?.lastIndexOf(element) ?? -1;
  if (place >= 0) siblings?.splice(place, 1);
};

/** Every element at a path below another one. */
export const all = (element: Element, ...path: readonly string[]): Element[] =>
  path.reduce<Element[]>(
    (found, name) => found.flatMap(({ children }) => children.filter((one) => one.name === name)),
    [element],
  );

/** The text of the first element at one of the paths, or nothing. */
export const textAt = (element: Element, ...paths: readonly string[]): string => {
  for (const path of paths) {
    const text = all(element, ...path.split("/"))[0]?.text.trim() ?? "";
    if (text !== "") return text;
  }
  return "";
};

export type Decoder = InstanceType<typeof TextDecoder>;

const DECLARED = /^\s*<\?xml[^>]*\bencoding\s*=\s*["']([\w.:-]+)["']/;

/** The encoding that a document names at its start. */
export const decoderOf = (start: Uint8Array): Decoder => {
  const head = new TextDecoder("latin1")
    .decode(start.subarray(0, 200))
    .replace(/^\u00EF\u00BB\u00BF/, "");
  const label = DECLARED.exec(head)?.[1] ?? "utf-8";
  try {
    return new TextDecoder(label, { fatal: true });
  } catch {
    throw malformed("line 1", `names the encoding ${label}, which is not known`);
  }
};
