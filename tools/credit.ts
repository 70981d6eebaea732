import { contract } from "../src/contract/index.ts";
import { defineTool } from "./tool.ts";

const { business_units, company_scores, credit_applications } = contract;

export const credit = [
  defineTool(credit_applications.list),
  defineTool(
    credit_applications.get,
    "Read one credit application with forms, answers and references; tax ids and bank accounts are masked.",
  ),
  defineTool(company_scores.get),
  defineTool(business_units.list),
];
