/**
 * What tools accept beyond the platform, by parameter: the schemas of the contract describe the rest. Each word costs
 * tokens in every session.
 */
export const acceptedValues: Readonly<Record<string, string>> = {
  disputeId: "id or code such as D-4711-01",
  reasonId: "id or code",
  externalReasonId: "id or code",
  defaultInternalReasonId: "id or code",
  defaultExternalReasonId: "id or code",
  categoryId: "id or code",
  departmentId: "id or code",
  DepartmentId: "id or code",
  resolutionId: "id or code",
  assigneeId: "id or e-mail",
  AssigneeId: "id or e-mail",
};

/** Parameters that tools have beside those of their operation. */
export const ownParameters = {
  cursor: "from the answer before; other arguments unchanged",
  fields: '["*"] for all',
  as: "default text",
  pages: "such as 1-3",
  clear: "fields to empty",
  idempotencyKey: "a retry with it creates no duplicate",
  ifMatch: "etag that was read; refused if changed since",
  confirmationToken: "from confirmation_required",
} as const;

/**
 * Lists whose description names the fields of an item, with one of them as an example: schemas of all fields would exceed
 * the budget of a tool.
 */
export const openItems: Readonly<
  Record<string, Record<string, { type: "number"; description: string }>>
> = {
  line_items: { amount: { type: "number", description: "line total" } },
};

type Example = {
  type: "object";
  description: string;
  properties: Record<string, { type: "string"; description: string }>;
};

/** Examples of the keys of free-form objects, by parameter. */
export const openProperties: Readonly<Record<string, Record<string, Example>>> = {
  filters: {
    paymentDate: {
      type: "object",
      description: "an example",
      properties: {
        gte: { type: "string", description: "first day" },
        lt: { type: "string", description: "day after the last" },
      },
    },
  },
};
