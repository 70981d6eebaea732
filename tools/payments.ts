import { contract } from "../src/contract/index.ts";
import { OPERATOR_NAMES } from "../src/contract/payments/operators.ts";
import { formatName, quote } from "./formatting.ts";
import { defineTool } from "./tool.ts";

const { payments, webhooks } = contract;

export const paymentTools = [
  defineTool(
    payments.schema,
    "List the payment sources, their fields and the conditions each field takes; read it before payments_query.",
    { title: "Get payment schema" },
  ),
  defineTool(
    payments.query,
    `Query payments. filters: {"applicationStatus": {"in": ["partial", "unapplied"]}, "paymentDate": {"gte": "2026-01-01"}}; not {"field": "value"}. Conditions: ${OPERATOR_NAMES.join(", ")}.`,
    { title: "Query payments" },
  ),
  defineTool(webhooks.list),
  defineTool(
    webhooks.create,
    "Have a URL called when scheduled runs finish; asks the person. The secret of its signatures goes to the person's secret store, and the answer names where.",
    {
      confirm: {
        reads: {},
        question({ callbackUrl, scheduleId = "" }) {
          const whose = scheduleId === "" ? "every schedule" : `schedule ${formatName(scheduleId)}`;
          return `Send what becomes of the runs of ${whose} to ${quote(callbackUrl)}?`;
        },
      },
    },
  ),
  defineTool(webhooks.list_deliveries, undefined, { title: "List webhook deliveries" }),
  defineTool(webhooks.delete, undefined, {
    confirm: {
      reads: {},
      question: ({ id }) => `Delete webhook ${quote(id)}? It hears of no further run.`,
    },
  }),
];
