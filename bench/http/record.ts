/** The response of every compared program: a record of the usual size. */
export const DISPUTE = {
  disputeId: "8f14e45f-ceea-467f-a0e6-1b2c3d4e5f60",
  disputeCode: "D-000123",
  status: 0,
  amount: 1250.5,
  currency: "USD",
  accountNumber: "ACC-0042",
  accountName: "Brightwater Foods",
  documentNumber: "INV-2026-00815",
  reasonId: "reason-1",
  reasonCode: "PRICE",
  reasonDescription: "The price differs from what was agreed",
  categoryCode: "PRICING",
  assigneeEmail: "ada@work.example",
  departmentCode: "AR",
  poNumber: "PO-77812",
  createdBy: "ada@work.example",
  createdAt: "2026-09-14T08:31:07.512Z",
  updatedBy: "ada@work.example",
  updatedAt: "2026-10-02T16:04:55.020Z",
};

export const TOOL = "disputes_get";
