import type { contract } from "../src/contract/index.ts";
import type { OutputOf } from "../src/contract/operation.ts";

const AT = "2026-11-20T12:00:00.123Z";

/** Makes a dispute of the usual size, as the platform answers it. */
export const makeDispute = (index: number): OutputOf<typeof contract.disputes.get> => ({
  disputeId: `dispute-${index}`,
  disputeCode: `D-INV-${index}-01`,
  tenantId: "t",
  categoryId: "c",
  categoryName: "Pricing",
  externalReasonCategoryId: null,
  externalReasonCategoryName: null,
  reasonId: "r",
  reasonName: "Price difference",
  externalReasonId: null,
  externalReasonName: null,
  assigneeId: "a",
  assigneeName: "Maria Lopez",
  departmentId: "d",
  departmentName: "Sales",
  status: 0,
  amount: 1204.55,
  isValid: false,
  resolutionId: null,
  resolutionCode: null,
  closedDate: null,
  platformAccountId: null,
  documentNumber: `INV-${index}`,
  poNumber: null,
  accountNumber: "ACC-1",
  accountName: "Northwind Traders",
  userId: null,
  currencyCode: "USD",
  originSystem: "api",
  createUser: "anna@example.com",
  createDate: AT,
  updateUser: "anna@example.com",
  updateDate: AT,
});
