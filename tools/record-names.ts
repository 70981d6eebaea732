import { contract } from "../src/contract/index.ts";
import type { Operation } from "../src/contract/operation.ts";

type Fields = Readonly<Record<string, unknown>>;

/** A list of the configuration, with the id of its entries and the name that people use for them. */
export type Named = {
  list: Operation;
  id: string;
  nameOf: (row: Fields) => unknown;
  /** Distinguishes entries with equal names. */
  parent: string;
  /** What tools accept, in words for a model. */
  accepts: string;
};

const code = { nameOf: (row: Fields): unknown => row["code"], accepts: "id or code" };

const { assignees, categories, departments, reasons, resolutions } = contract;
const REASON: Named = { list: reasons.list, id: "reasonId", parent: "categoryId", ...code };
const CATEGORY: Named = { list: categories.list, id: "categoryId", parent: "", ...code };
const DEPARTMENT: Named = { list: departments.list, id: "departmentId", parent: "", ...code };
const RESOLUTION: Named = { list: resolutions.list, id: "resolutionId", parent: "", ...code };
const ASSIGNEE: Named = {
  list: assignees.list,
  id: "assigneeId",
  nameOf: ({ person }) => (person as Fields | undefined)?.["email"],
  parent: "departmentId",
  accepts: "id or e-mail",
};

/** The arguments that take an id of the configuration. */
const NAMED: Readonly<Record<string, Named>> = {
  reasonId: REASON,
  externalReasonId: REASON,
  defaultInternalReasonId: REASON,
  defaultExternalReasonId: REASON,
  categoryId: CATEGORY,
  departmentId: DEPARTMENT,
  DepartmentId: DEPARTMENT,
  resolutionId: RESOLUTION,
  assigneeId: ASSIGNEE,
  AssigneeId: ASSIGNEE,
};

/** Returns the list whose ids an argument takes; undefined for other arguments. */
export const findNamed = (argument: string): Named | undefined => NAMED[argument];

/** Returns what tools accept in place of an id, which the platform itself does not. */
export const describeAccepted = (argument: string): string | undefined =>
  argument === "disputeId" ? "id or code such as D-4711-01" : findNamed(argument)?.accepts;
