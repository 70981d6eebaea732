import { ACCOUNT, accountAt, DOCUMENT, documentAt } from "./ingest.ts";
import { pdf, uploadPath } from "./pdf.ts";
import type { Caller, Reply } from "./platform.ts";

export type IngestRecords = {
  account: { account_number: string; reference: string };
  document: { document_number: string };
  /** A PDF of the document. */
  attachment: { id: string };
};

export type Ingesting = {
  /** Brings in the tenant's accounts and documents. */
  ingester: Caller;
  /** The tenant's, for its PDF files. */
  connectionId: string;
};

type Asked = Ingesting & { accountNumber: string; documentNumber: string; text: string };

const checked = (reply: Reply): Record<string, string> => {
  if (reply.status >= 300) throw new Error(reply.text);
  return reply.body;
};

/** An account, a note, a document and its PDF, with a text of the tenant's own in each. */
export const seedIngest = async (asked: Asked): Promise<IngestRecords> => {
  const { ingester, connectionId, accountNumber, documentNumber, text } = asked;
  const post = async (path: string, body: object) =>
    checked(await ingester("POST", path, { body }));
  const reference = `NOTE-${accountNumber}`;
  await post(accountAt(accountNumber), { ...ACCOUNT, name: text, description: text });
  await post(`${accountAt(accountNumber)}/notes`, { reference, body: text });
  const document = { ...DOCUMENT, account_number: accountNumber, denomination: 99, comment: text };
  await post(documentAt(documentNumber), document);
  const uploaded = await ingester("POST", uploadPath(connectionId, documentNumber), {
    headers: { "Content-Type": "application/pdf" },
    raw: pdf(text),
  });
  return {
    account: { account_number: accountNumber, reference },
    document: { document_number: documentNumber },
    attachment: { id: checked(uploaded)["id"] ?? "" },
  };
};
