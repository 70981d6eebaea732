import { Problem } from "../../contract/errors.ts";
import type { Remark } from "../../../tools/tool.ts";
import type { Working } from "./tool-context.ts";

type Args = Record<string, unknown>;

/** Whether a record does not exist; false if it cannot be read. */
const isAbsent = async (
  { broker, tool, signal }: Working,
  { operation, args }: Remark,
  given: Args,
): Promise<boolean> => {
  try {
    await broker.call(operation, args(given), { tool: tool.name, signal });
    return false;
  } catch (error) {
    if (signal.aborted) throw error;
    return error instanceof Problem && error.status === 404;
  }
};

/** Returns the remarks on a call that was made: the records that it names and the platform does not have. */
export const findRemarks = async (call: Working, args: Args): Promise<string[]> => {
  const remarks = await Promise.all(
    (call.tool.remarks ?? []).map(async (remark) =>
      (await isAbsent(call, remark, args)) ? [remark.text(args)] : [],
    ),
  );
  return remarks.flat();
};
