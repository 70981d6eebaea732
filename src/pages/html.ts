const ENTITIES: Record<string, string> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

/** Text that is HTML already. Only {@link html} makes it. */
export type Html = { readonly html: string };

const isHtml = (value: object): value is Html => "html" in value;

export type Piece = string | number | Html | undefined | readonly Html[];

const escaped = (piece: Piece): string => {
  if (piece === undefined) return "";
  if (typeof piece !== "object") return String(piece).replace(/[&<>"']/g, (c) => ENTITIES[c] ?? c);
  return isHtml(piece) ? piece.html : piece.map((one) => one.html).join("");
};

/** HTML with everything in it escaped that is not HTML itself. */
export const html = (texts: TemplateStringsArray, ...pieces: Piece[]): Html => ({
  html: texts.map((text, place) => text + escaped(pieces[place])).join(""),
});

// Control and format characters: a name that turns the direction of text could show another name.
const INVISIBLE = /[\p{C}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/gu;

/** What somebody else calls themselves, as one line that is as long as it looks. */
export const oneLine = (text: string, most = 80): string => {
  const characters = [...text.replace(/\s+/g, " ").replace(INVISIBLE, "").trim()];
  return characters.length > most
    ? `${characters.slice(0, most - 1).join("")}…`
    : characters.join("");
};
