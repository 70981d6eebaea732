/** Records of accounts and documents, as the platform returns them. */
export const AT = "2026-11-20T12:00:00.123Z";
export const ACCOUNT = { csrId: 1, accountNumber: "ACC-1", name: "Northwind Traders" };
export const INVOICE = {
  csrId: 2,
  documentNumber: "INV/1",
  account_number: "ACC-1",
  invoice_date: "2026-01-05",
  due_date: "2026-02-05",
  document_type: "invoice",
  currency: "USD",
  denomination: 1204.55,
  status: "open",
};
export const PDF = Buffer.from("%PDF-1.7\n\u0000binary%%EOF");

export const attachment = (index: number) => ({
  id: `att-${index}`,
  csrId: index,
  documentNumber: "INV/1",
  fileSize: PDF.length,
  uploadedAt: AT,
});

export const URI = "receivables://documents/INV%2F1/attachments/att-1";
export const FILE = { fileName: "a\u202e.pdf", mimeType: "application/pdf", fileSize: PDF.length };
