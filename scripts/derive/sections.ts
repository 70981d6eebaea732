/** A Markdown table; cells hold no newline, and their bars are escaped. */
export const table = (head: readonly string[], rows: readonly (readonly string[])[]): string => {
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |`;
  return [line(head), line(head.map(() => "---")), ...rows.map(line)].join("\n");
};

const pattern = (kind: "derived" | "checked", name: string): RegExp =>
  new RegExp(`(<!-- ${kind}: ${name} -->)([\\s\\S]*?)(<!-- /${kind} -->)`);

const found = (text: string, kind: "derived" | "checked", name: string): RegExpExecArray => {
  const match = pattern(kind, name).exec(text);
  if (match === null) throw new Error(`There is no section <!-- ${kind}: ${name} -->.`);
  return match;
};

/** The text with what stands between a section's markers replaced. */
export const replaceSection = (text: string, name: string, content: string): string => {
  const [whole, begin, , end] = found(text, "derived", name);
  return text.replace(whole, () => `${begin}\n\n${content}\n\n${end}`);
};

/** The cells of the table in a section. */
const rowsOf = (text: string, kind: "derived" | "checked", name: string): string[][] =>
  (found(text, kind, name)[2] ?? "")
    .split("\n")
    .filter((line) => line.startsWith("|"))
    .slice(2)
    .map((line) =>
      line
        .split("|")
        .slice(1, -1)
        .map((cell) => cell.trim()),
    );

/** The cells of the table in a section that is written by hand. */
export const checkedRows = (text: string, name: string): string[][] =>
  rowsOf(text, "checked", name);

/** The cells of the table in a derived section. */
export const derivedRows = (text: string, name: string): string[][] =>
  rowsOf(text, "derived", name);
