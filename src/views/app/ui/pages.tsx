import { Button } from "./button.tsx";

/** The server's sentence about rows that did not fit, which are on the next page. */
const TELLS_CUT = /^(?:The first \d+|Items \d+ to \d+) of \d+/;

/** Returns the notes of an answer whose other rows are on further pages. */
export const notesOfPage = (notes: readonly string[]): string[] =>
  notes.filter((note) => !TELLS_CUT.test(note));

type PagesProps = {
  label: string;
  /** The cursors of the pages before, and of this one. */
  cursors: readonly string[];
  /** The cursor of the next page; undefined on the last one. */
  next: unknown;
  /** Shows the page to which these cursors lead. */
  turn: (cursors: readonly string[]) => void;
  /** The place of this page. */
  text: string;
};

/** The way to the pages before and after; nothing where there is one page. */
export const Pages = ({ label, cursors, next, turn, text }: PagesProps) => {
  const isFirst = cursors.length === 0;
  const isLast = typeof next !== "string";
  if (isFirst && isLast) return null;
  return (
    <nav class="toolbar" aria-label={label}>
      <Button isOff={isFirst} onClick={() => turn(cursors.slice(0, -1))}>
        Previous page
      </Button>
      <Button
        isOff={isLast}
        onClick={() => {
          if (!isLast) turn([...cursors, next]);
        }}
      >
        Next page
      </Button>
      <span class="meta">{text}</span>
    </nav>
  );
};
