import sax from "sax";
import { createMalformed } from "./file.ts";

/** An element; `name` has no namespace prefix, `text` is its direct text. */
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
// The types of sax do not know `strictEntities`.
const PARSER_OPTIONS = { strictEntities: true, position: true };
const WRAPPER = "documents";

const local = (name: string): string => name.slice(name.indexOf(":") + 1);

/**
 * Creates a streaming XML reader. It calls `closed` at the end of each element, which may then remove the element from
 * its parent to free memory. Only XML's five predefined entities are expanded, and a document type is refused. Several
 * documents can follow each other.
 */
export const createXmlReader = (closed: (element: Element) => void) => {
  const parser = sax.parser(true, PARSER_OPTIONS);
  let isOpen = false;
  let open: Element | undefined;
  let depth = 0;
  const place = (): string => `line ${parser.line + 1}`;
  const refuse = (message: string): never => {
    throw createMalformed(place(), message);
  };
  const opened = ({ name, attributes }: sax.Tag | sax.QualifiedTag): void => {
    // The first one is the wrapper.
    if (!isOpen) return;
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
    if (open === undefined) {
      if (text.trim() !== "") refuse("has text outside of an XML document");
      return;
    }
    open.text += text;
    if (open.text.length > LONGEST_TEXT) refuse("holds a text that is too long");
  };
  const ended = (): void => {
    if (open === undefined) return;
    const element = open;
    open = element.parent;
    depth -= 1;
    closed(element);
  };
  // Assigned one by one: Object.assign makes V8 store the parser as a dictionary, which takes 2.5 times as long.
  parser.onopentag = opened;
  // oxlint-disable-next-line unicorn/prefer-add-event-listener -- no element of a page
  parser.ontext = addText;
  parser.oncdata = addText;
  parser.onclosetag = ended;
  // oxlint-disable-next-line unicorn/prefer-add-event-listener -- as above
  parser.onerror = ({ message }) => refuse(`is not well-formed XML: ${message.split("\n")[0]}`);
  parser.ondoctype = () => refuse("declares a document type, which no such message has");
  // The parser expects one root, so that documents that follow each other are wrapped in one.
  parser.write(`<${WRAPPER}>`);
  isOpen = true;
  return {
    write: (text: string): void => void parser.write(text),
    end: (): void => {
      if (open !== undefined) refuse(`is the last line, but <${open.name}> has no end`);
      parser.write(`</${WRAPPER}>`).close();
    },
  };
};

/** Removes an element from its parent, so that a long document is never held in memory as a whole. */
export const detach = (element: Element): void => {
  const siblings = element.parent?.children;
  const place = siblings?.lastIndexOf(element) ?? -1;
  if (place >= 0) siblings?.splice(place, 1);
};

const collect = (
  { children }: Element,
  path: readonly string[],
  place: number,
  found: Element[],
): void => {
  for (const child of children) {
    if (child.name !== path[place]) continue;
    if (place === path.length - 1) found.push(child);
    else collect(child, path, place + 1, found);
  }
};

/** Returns the elements at a path below an element. */
export const findAll = (element: Element, ...path: readonly string[]): Element[] => {
  const found: Element[] = [];
  collect(element, path, 0, found);
  return found;
};

const findFirst = (
  { children }: Element,
  path: readonly string[],
  place: number,
): Element | undefined => {
  for (const child of children) {
    if (child.name !== path[place]) continue;
    const found = place === path.length - 1 ? child : findFirst(child, path, place + 1);
    if (found !== undefined) return found;
  }
  return undefined;
};

const split = new Map<string, readonly string[]>();

/** Divides a path, of which there are few. */
const splitPath = (path: string): readonly string[] => {
  const known = split.get(path) ?? path.split("/");
  split.set(path, known);
  return known;
};

/** Returns the first element at a path below an element. */
export const findElement = (element: Element, path: string): Element | undefined =>
  findFirst(element, splitPath(path), 0);

/** Returns the elements at a path below an element. */
export const findPath = (element: Element, path: string): Element[] => {
  const found: Element[] = [];
  collect(element, splitPath(path), 0, found);
  return found;
};

/** Returns the text of the first element at one of the paths, or "". */
export const readText = (element: Element, ...paths: readonly string[]): string => {
  for (const path of paths) {
    const text = findFirst(element, splitPath(path), 0)?.text.trim() ?? "";
    if (text !== "") return text;
  }
  return "";
};

/** Returns a truth value, which XML Schema writes as `true` or `1`, `false` or `0`; undefined for another text or none. */
export const readFlag = (element: Element, path: string): boolean | undefined => {
  const text = readText(element, path);
  if (text === "true" || text === "1") return true;
  return text === "false" || text === "0" ? false : undefined;
};
