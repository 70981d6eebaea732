import { contract } from "../src/contract/index.ts";
import type { InsightContext } from "../src/insights/insight.ts";

/** An entry of the configuration: its id, and the name that people use for it. */
export type Entry = {
  id: string;
  name: string;
  /** Distinguishes entries with equal names. */
  parent?: string;
};

/** A list of the configuration. */
export type Named = {
  read(call: InsightContext["call"]): Promise<Entry[]>;
  /** The values that tools accept, in words for a model. */
  accepts: string;
};

const CODE = "id or code";
const { assignees, categories, departments, reasons, resolutions } = contract;

const REASON: Named = {
  accepts: CODE,
  async read(call) {
    const { output } = await call(reasons.list, {});
    return output.map(({ reasonId: id, code: name, categoryId }) => ({
      id,
      name,
      parent: `categoryId ${categoryId}`,
    }));
  },
};

const CATEGORY: Named = {
  accepts: CODE,
  async read(call) {
    const { output } = await call(categories.list, {});
    return output.map(({ categoryId: id, code: name }) => ({ id, name }));
  },
};

const DEPARTMENT: Named = {
  accepts: CODE,
  async read(call) {
    const { output } = await call(departments.list, {});
    return output.map(({ departmentId: id, code: name }) => ({ id, name }));
  },
};

const RESOLUTION: Named = {
  accepts: CODE,
  async read(call) {
    const { output } = await call(resolutions.list, {});
    return output.map(({ resolutionId: id, code: name }) => ({ id, name }));
  },
};

const ASSIGNEE: Named = {
  accepts: "id or e-mail",
  async read(call) {
    const { output } = await call(assignees.list, {});
    return output.map(({ assigneeId: id, person, departmentId }) => ({
      id,
      name: person.email,
      parent: `departmentId ${departmentId}`,
    }));
  },
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
