import PDFDocument from "pdfkit";

export type Page = PDFKit.PDFDocument;

const MARGIN = 54;

/** A PDF file of what is drawn on its pages; the same drawing at the same moment gives the same bytes. */
export const renderPdf = (title: string, at: number, draw: (page: Page) => void): Promise<Buffer> =>
  new Promise((resolve, reject) => {
    const page = new PDFDocument({
      size: "LETTER",
      margin: MARGIN,
      info: { Title: title, Author: "Demo Manufacturing Inc.", CreationDate: new Date(at) },
    });
    const chunks: Buffer[] = [];
    page.on("data", (chunk: Buffer) => chunks.push(chunk));
    page.on("end", () => resolve(Buffer.concat(chunks)));
    page.on("error", reject);
    draw(page);
    page.end();
  });

export type Column = { title: string; x: number; width: number; right?: true };

const ROW = 15;

/** A table from where the page has come to, and moves on below it. */
export const drawTable = (
  page: Page,
  columns: readonly Column[],
  rows: readonly (readonly string[])[],
): void => {
  const line = (cells: readonly string[], font: string): void => {
    const { y } = page;
    page.font(font).fontSize(8.5);
    for (const [place, { x, width, right }] of columns.entries()) {
      const align = right === true ? "right" : "left";
      page.text(cells[place] ?? "", x, y, { width, align, lineBreak: false, ellipsis: true });
    }
    page.y = y + ROW;
  };
  line(
    columns.map(({ title }) => title),
    "Helvetica-Bold",
  );
  page
    .moveTo(MARGIN, page.y - 3)
    .lineTo(558, page.y - 3)
    .lineWidth(0.5)
    .stroke("#888888");
  for (const row of rows) line(row, "Helvetica");
  page.y += 6;
};

/** Labels with their values beneath each other. */
export const drawFacts = (
  page: Page,
  { x, y }: { x: number; y: number },
  facts: readonly (readonly [string, string])[],
): void => {
  for (const [place, [label, value]] of facts.entries()) {
    const at = y + place * ROW;
    page.font("Helvetica-Bold").fontSize(8.5).text(label, x, at, { lineBreak: false });
    page.font("Helvetica").text(value, x + 78, at, { width: 150, lineBreak: false });
  }
};

/** The name and address at the top of what a company sends. */
export const drawLetterhead = (page: Page, name: string, lines: readonly string[]): void => {
  page.font("Helvetica-Bold").fontSize(15).fillColor("#1f3a5f").text(name, MARGIN, MARGIN);
  page.font("Helvetica").fontSize(8.5).fillColor("#444444");
  for (const line of lines) page.text(line);
  page.fillColor("#000000");
};
