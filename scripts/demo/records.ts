import { z } from "zod";

/** A text that rows of lists leave out when it is null. */
const optional = z
  .string()
  .nullish()
  .transform((text) => text ?? null);

/** The fields that the session reads of the tools' answers. */
export const Dispute = z.object({
  disputeId: z.string(),
  disputeCode: z.string(),
  categoryId: z.string(),
  categoryName: z.string(),
  reasonId: z.string(),
  reasonName: z.string(),
  assigneeId: optional,
  assigneeName: optional,
  departmentId: optional,
  departmentName: optional,
  status: z.int(),
  amount: z.number(),
  currencyCode: z.string(),
  accountNumber: z.string(),
  accountName: z.string().nullish(),
  documentNumber: z.string(),
  resolutionCode: optional,
  createDate: z.iso.datetime(),
});
export type Dispute = z.infer<typeof Dispute>;

export const Note = z.object({
  content: z.string(),
  visibility: z.string(),
  createDate: z.iso.datetime(),
});
export type Note = z.infer<typeof Note>;

export const Assignee = z.object({
  assigneeId: z.string(),
  departmentId: z.string(),
  active: z.boolean(),
  person: z.object({
    firstName: z.string(),
    lastName: z.string(),
    email: z.string(),
    title: z.string().nullable(),
  }),
});
export type Assignee = z.infer<typeof Assignee>;

const Coded = z.object({ code: z.string(), description: z.string() });

export const Resolution = Coded.extend({
  resolutionId: z.string(),
  active: z.boolean(),
  isValid: z.boolean(),
});
export type Resolution = z.infer<typeof Resolution>;

export const Configuration = z.object({
  categories: z.array(Coded.extend({ categoryId: z.string() })),
  reasons: z.array(Coded.extend({ categoryId: z.string(), active: z.boolean() })),
  departments: z.array(Coded.extend({ departmentId: z.string() })),
  assignees: z.array(Assignee),
  resolutions: z.array(Resolution),
});
export type Configuration = z.infer<typeof Configuration>;

/** Lists by noun, as a resource holds them. */
export const Lists = z.record(
  z.string(),
  z.object({ items: z.array(z.unknown()), truncated: z.boolean() }),
);
export type Lists = z.infer<typeof Lists>;

export const page = <T extends z.ZodType>(item: T) =>
  z.object({
    items: z.array(item),
    total: z.int().nullable(),
    nextCursor: z.string().nullable(),
  });

export const AuditPage = z.object({
  data: z.array(
    z.object({
      action: z.string().optional(),
      statusCode: z.int(),
      metadata: z.looseObject({ mcpTool: z.string().optional() }),
    }),
  ),
  pagination: z.object({ cursor: z.string().nullable(), hasMore: z.boolean() }),
});
export type AuditEntry = z.infer<typeof AuditPage>["data"][number];

/** One thing that the server answered with, as text. */
export const ResourceText = z.object({ uri: z.string(), text: z.string() });
