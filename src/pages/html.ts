const ENTITIES: Record<string, string> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

/** Markup that is inserted unescaped. Only {@link html} creates it. */
export type Html = { readonly html: string };

type Value = string | number | Html | undefined | readonly Html[];

const isHtml = (value: object): value is Html => "html" in value;

const escapeValue = (value: Value): string => {
  if (value === undefined) return "";
  if (typeof value !== "object") return String(value).replace(/[&<>"']/g, (c) => ENTITIES[c] ?? c);
  return isHtml(value) ? value.html : value.map((one) => one.html).join("");
};

/** Template tag for HTML. It escapes every value except {@link Html}. */
export const html = (texts: TemplateStringsArray, ...values: Value[]): Html => ({
  html: texts.map((text, index) => text + escapeValue(values[index])).join(""),
});

// Control and format characters: a name that reverses the direction of text could look like another name.
const INVISIBLE = /[\p{C}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/gu;

/** Returns a foreign name as one line of visible characters, at most `max` of them. */
export const toOneLine = (text: string, max = 80): string => {
  const characters = [...text.replace(/\s+/g, " ").replace(INVISIBLE, "").trim()];
  return characters.length > max
    ? `${characters.slice(0, max - 1).join("")}…`
    : characters.join("");
};
