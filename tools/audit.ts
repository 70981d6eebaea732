import { contract } from "../src/contract/index.ts";
import { tool } from "./tool.ts";

export const audit = [tool(contract.audit_logs.list)];
