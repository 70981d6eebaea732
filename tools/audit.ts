import { contract } from "../src/contract/index.ts";
import { defineTool } from "./tool.ts";

export const audit = [defineTool(contract.audit_logs.list)];
