import { Parser } from "htmlparser2";
import { Unreadable } from "../port.ts";

const MAX_DEPTH = 3000;

const SKIPPED = new Set(["script", "style", "head", "template", "noscript"]);
const BLOCKS = new Set(
  "address article blockquote br div dl dd dt footer form h1 h2 h3 h4 h5 h6 header hr li ol p pre section table tr ul".split(
    " ",
  ),
);
/** Elements that have no contents. */
const EMPTY = new Set(["br", "hr"]);
const CELLS = new Set(["td", "th"]);

const tidy = (text: string): string => {
  const lines = text.split("\n").map((line) => line.replace(/[^\S\t]+/g, " ").trim());
  return lines
    .filter((line, index) => line !== "" || lines[index - 1] !== "")
    .join("\n")
    .trim();
};

/** Reads the text of HTML: blocks are lines, and cells of a table have tabs between them. @throws {Unreadable} */
export const readHtml = (html: string): string => {
  const parts: string[] = [];
  let [skipped, depth] = [0, 0];
  const parser = new Parser({
    onopentagname(name) {
      depth += 1;
      // The parser takes time by the square of the depth.
      if (depth > MAX_DEPTH) throw new Unreadable("Its contents are nested too deep.");
      if (SKIPPED.has(name)) skipped += 1;
      else if (BLOCKS.has(name)) parts.push("\n");
    },
    onclosetag(name) {
      depth -= 1;
      if (SKIPPED.has(name)) skipped = Math.max(0, skipped - 1);
      else if (CELLS.has(name)) parts.push("\t");
      else if (BLOCKS.has(name) && !EMPTY.has(name)) parts.push("\n");
    },
    ontext(text) {
      // A line end in the source is a space on the page.
      if (skipped === 0) parts.push(text.replaceAll(/[\n\r]+/g, " "));
    },
  });
  parser.write(html);
  parser.end();
  return tidy(parts.join(""));
};
