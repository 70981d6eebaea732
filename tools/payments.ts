import { contract } from "../src/contract/index.ts";
import { tool } from "./tool.ts";

const { payments } = contract;

export const paymentTools = [
  tool(
    payments.schema,
    "List the payment sources, their fields and the conditions each field takes; read it before payments_query.",
    { title: "Get payment schema" },
  ),
  tool(
    payments.query,
    'Query payments. filters: {"applicationStatus": {"in": ["partial", "unapplied"]}, "paymentDate": {"gte": "2026-01-01"}}; not {"field": "value"}.',
    { title: "Query payments" },
  ),
];
