import { contract } from "../src/contract/index.ts";
import { tool } from "./tool.ts";

const { business_units, company_scores, credit_applications } = contract;

export const credit = [
  tool(credit_applications.list),
  tool(
    credit_applications.get,
    "Read one credit application with forms, answers and references; tax ids and bank accounts are masked.",
  ),
  tool(company_scores.get),
  tool(business_units.list),
];
