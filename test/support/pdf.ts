import { wholePdf } from "./uploads/samples.ts";
import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import type { Store } from "../../src/platform/store/port.ts";

/** A PDF of one page, of a size where one is given; a comment fills it up. */
export const pdf = (text = "one", size = 0): Uint8Array<ArrayBuffer> => {
  const page = wholePdf().toString("latin1");
  const [, table = "0"] = /startxref\n(\d+)/.exec(page) ?? [];
  const begin = `${page}% ${text} `;
  const end = `\nstartxref\n${table}\n%%EOF\n`;
  const filling = Math.max(0, size - begin.length - end.length);
  return Uint8Array.from(Buffer.from(begin + "x".repeat(filling) + end, "latin1"));
};

export const DOCUMENTS = "/api/v1/ingest/documents";

export const invoice = (number: string) => ({
  account_number: "A-1",
  invoice_date: "2026-01-05",
  due_date: "2026-02-05",
  invoice_num: number,
});

export const uploadPath = (connectionId: string, number: string): string =>
  `/api/v1/pdf-ingestion/pdf/${connectionId}/ingest_documents/${encodeURIComponent(number)}`;

// Every file store of a process has it.
const ID_OF_STORE = join("store", "id");

/** Every file beneath a folder, by its path, without the id of the file store. */
export const filesUnder = (folder: string): string[] => {
  try {
    return readdirSync(folder, { recursive: true, encoding: "utf8" })
      .filter((name) => name !== ID_OF_STORE)
      .map((name) => join(folder, name))
      .filter((path) => statSync(path).isFile());
  } catch {
    return [];
  }
};

export const connectionOf = async ({ read }: Store, tenantId: string): Promise<string> => {
  const tenant = read.selectFrom("tenants").select("connection_id").where("id", "=", tenantId);
  return (await tenant.executeTakeFirstOrThrow()).connection_id;
};
