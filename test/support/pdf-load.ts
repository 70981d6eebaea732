import { DOCUMENTS, invoice, pdf, uploadPath } from "./pdf.ts";

export type PdfLoad = {
  /** Sends requests until told to stop, and returns the number of uploads. */
  end(): Promise<number>;
};

/** Uploads PDF files of documents without a pause; a new file replaces the one before unless it is appended. */
export const startPdfLoad = async (
  baseUrl: string,
  { key, connection, clients }: { key: string; connection: string; clients: number },
  append: boolean,
): Promise<PdfLoad> => {
  const send = async (path: string, type: string, body: string | Uint8Array<ArrayBuffer>) => {
    const headers = { "X-API-Key": key, "Content-Type": type };
    const reply = await fetch(baseUrl + path, { method: "POST", headers, body });
    const text = await reply.text();
    if (!reply.ok) throw new Error(`${path}: ${text}`);
  };
  const numbers = Array.from({ length: clients }, (_, index) => `D${index}`);
  for (const number of numbers) {
    await send(`${DOCUMENTS}/${number}`, "application/json", JSON.stringify(invoice(number)));
  }
  const state = { isOver: false };
  let uploads = 0;
  const upload = (number: string): Promise<void> => {
    uploads += 1;
    const path = uploadPath(connection, number) + (append ? "?append=true" : "");
    return send(path, "application/pdf", pdf(`upload ${uploads}`, 20_000 + uploads));
  };
  const work = async (number: string): Promise<void> => {
    while (!state.isOver) await upload(number);
  };
  await Promise.all(numbers.map(upload));
  const working = Promise.all(numbers.map(work));
  working.catch(() => {});
  return {
    async end() {
      state.isOver = true;
      await working;
      return uploads;
    },
  };
};
