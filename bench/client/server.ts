import { announce, serveBare } from "../serving.ts";

// Answers a GET with as many disputes as its address ends with, made once; ends when its input does.
const AT = "2026-11-20T12:00:00.123Z";
const dispute = (index: number) => ({
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

const one = JSON.stringify(dispute(0));
const many = JSON.stringify(Array.from({ length: 100 }, (_, index) => dispute(index)));

const { url, close } = await serveBare((request, response) => {
  response.setHeader("Content-Type", "application/json");
  response.setHeader("X-Request-Id", "request-1");
  response.end(request.url?.includes("PageSize") === true ? many : one);
});
announce({ url }, close);
