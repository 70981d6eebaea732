import { z } from "zod";
import { tenantPath } from "./fields.ts";

/** What the operations on one kind of dispute configuration share; their ways to the records differ. */
export const configurationOf = (noun: string) =>
  ({
    read: { method: "GET", access: "Dispute Configuration : READ", audit: `${noun}.read` },
    list: {
      method: "GET",
      access: "Dispute Configuration : READ",
      params: z.object(tenantPath),
      audit: `${noun}.listed`,
    },
    create: {
      method: "POST",
      access: "Dispute Configuration : CREATE",
      params: z.object(tenantPath),
      audit: `${noun}.created`,
    },
    update: { method: "PUT", access: "Dispute Configuration : UPDATE", audit: `${noun}.updated` },
    delete: {
      method: "DELETE",
      access: "Dispute Configuration : DELETE",
      output: null,
      effects: [{ kind: "deletes", target: noun }],
      errors: ["in_use"],
      audit: `${noun}.deleted`,
    },
  }) as const;
