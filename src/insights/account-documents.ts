import type { Fields, InsightContext } from "./insight.ts";
import type { Unavailable } from "./read-part.ts";

/** Open documents of an account with their aging, where the platform can list documents. */
export const readOpenDocuments = async (
  _context: InsightContext,
  _accountNumber: string,
): Promise<Fields | Unavailable> => ({
  available: false,
  reason: "This platform does not list documents; documents_get reads one by its number.",
});
