import { DAY } from "../../kit/clock.ts";
import { fold } from "../store/fold.ts";
import type {
  AssigneeRow,
  CategoryRow,
  DepartmentRow,
  ReasonRow,
  ResolutionRow,
} from "../store/tables.ts";
import { CATEGORIES, DEPARTMENTS, RESOLUTIONS } from "./catalogue.ts";
import type { Dice } from "./dice.ts";
import type { Fake } from "./fake.ts";
import { dateOnly } from "./moments.ts";
import { CLERK, emailOf, MANAGER, OFFICES, WORKERS } from "./people.ts";
import { type ReasonPlan, REASONS } from "./reasons.ts";

export type Configuration = {
  departments: DepartmentRow[];
  assignees: AssigneeRow[];
  reasons: ReasonRow[];
  categories: CategoryRow[];
  resolutions: ResolutionRow[];
};

/** What every row of the demo tenant is made with; `userOf` gives a login's user id. */
export type Making = {
  dice: Dice;
  fake: Fake;
  tenantId: string;
  now: number;
  userOf(email: string): string | undefined;
};

const SET_UP = 700 * DAY;
const BACK_FROM_LEAVE = 24 * DAY;
/** How long ago the person who left was last at work. */
export const LEFT = 38 * DAY;
/** Since when the person on leave is away. */
export const AWAY = 6 * DAY;

export const tracked = (by: string, at: number) => ({
  created_by: by,
  created_at: at,
  updated_by: by,
  updated_at: at,
  version: 1,
});

/** Whose name a change bears: the login's id. */
export const authorOf = (making: Making, email: string): string =>
  making.userOf(email) ?? making.userOf(CLERK) ?? email;

const setUp = (making: Making) => tracked(authorOf(making, MANAGER), making.now - SET_UP);

const coded = (making: Making, plan: { code: string; description: string }) => ({
  tenant_id: making.tenantId,
  id: making.dice.id(),
  code: plan.code,
  code_folded: fold(plan.code),
  description: plan.description,
  ...setUp(making),
});

export const idOf = (rows: readonly { id: string; code: string }[], code: string): string => {
  const row = rows.find((one) => one.code === code);
  if (row === undefined) throw new RangeError(`nothing has the code ${code}`);
  return row.id;
};

const titleOf = (worker: (typeof WORKERS)[number], now: number): string =>
  worker.state === "leave"
    ? `${worker.title} (on leave until ${dateOnly(now + BACK_FROM_LEAVE)})`
    : worker.title;

const person = (worker: (typeof WORKERS)[number], now: number): string => {
  const { phone, timezone, ...address } = OFFICES[worker.office];
  return JSON.stringify({
    officePhone: `${phone}${worker.extension}`,
    cellPhone: null,
    fax: null,
    title: titleOf(worker, now),
    language: "en-US",
    timezone,
    address,
  });
};

const assigneeRows = (making: Making, departments: DepartmentRow[]): AssigneeRow[] =>
  WORKERS.map((worker) => {
    const email = emailOf(worker);
    const row: AssigneeRow = {
      tenant_id: making.tenantId,
      id: making.dice.id(),
      department_id: idOf(departments, worker.department),
      user_id: making.userOf(email) ?? null,
      email,
      email_folded: fold(email),
      first_name: worker.firstName,
      last_name: worker.lastName,
      name_folded: fold(`${worker.firstName} ${worker.lastName}`),
      person: person(worker, making.now),
      active: worker.state === "left" ? 0 : 1,
      all_updates: making.dice.chance(0.3) ? 1 : 0,
      daily_digest: making.dice.chance(0.6) ? 1 : 0,
      ...setUp(making),
    };
    if (worker.state === undefined) return row;
    const since = making.now - (worker.state === "left" ? LEFT : AWAY);
    return { ...row, updated_at: since, version: 2 };
  });

const reasonRow = (making: Making, plan: ReasonPlan, categoryId: string): ReasonRow => ({
  ...coded(making, plan),
  category_id: categoryId,
  description_folded: fold(plan.description),
  active: plan.retired === true ? 0 : 1,
  visibility: plan.visibility,
});

const categoriesAndReasons = (making: Making, assignees: AssigneeRow[]) => {
  const reasons: ReasonRow[] = [];
  const categories = CATEGORIES.map((plan): CategoryRow => {
    const base = coded(making, plan);
    const own = REASONS.filter((reason) => reason.category === plan.code).map((reason) =>
      reasonRow(making, reason, base.id),
    );
    reasons.push(...own);
    const owner = assignees.find((assignee) => assignee.email === plan.owner);
    return {
      ...base,
      description_folded: fold(plan.description),
      default_internal_reason_id: idOf(own, plan.internal),
      default_external_reason_id: plan.external === null ? null : idOf(own, plan.external),
      default_assignee_id: owner?.id ?? null,
    };
  });
  return { categories, reasons };
};

/** Everything a dispute may refer to. */
export const configuration = (making: Making): Configuration => {
  const departments = DEPARTMENTS.map((plan) => ({
    ...coded(making, plan),
    description_folded: fold(plan.description),
  }));
  const assignees = assigneeRows(making, departments);
  const resolutions = RESOLUTIONS.map((plan) => ({
    ...coded(making, plan),
    active: plan.retired === true ? (0 as const) : (1 as const),
    is_valid: plan.valid ? (1 as const) : (0 as const),
    apply_when_invoice_closed: 0 as const,
  }));
  return { departments, assignees, ...categoriesAndReasons(making, assignees), resolutions };
};
