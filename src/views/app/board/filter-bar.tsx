import type { DisputeGrouping } from "../../../contract/insights/dispute-summary.ts";
import { listOf, recordOf } from "../answers.ts";
import { plainText } from "../format.ts";
import type { Fields } from "../host.ts";
import { hasTool } from "../session.ts";
import { Choice, Entry } from "../ui/fields.tsx";
import { Conditions } from "../ui/conditions.tsx";
import { useCall } from "../ui/use-call.ts";
import { ORDERS, STATUS, toChoices } from "../words.ts";
import { otherConditions } from "./filters.ts";

const UNASSIGNED = "(unassigned)";

const first = (value: unknown): string => plainText(Array.isArray(value) ? value[0] : value);

const unique = (values: readonly string[]): string[] =>
  [...new Set(values)].filter((value) => value !== "").toSorted((a, b) => a.localeCompare(b));

/** Returns the values that occur among open disputes. */
const useValues = (
  grouping: Extract<DisputeGrouping, "reason" | "assignee">,
  isPaused: boolean,
): string[] => {
  const args = { status: [STATUS.open], groupBy: [grouping], limit: 100 };
  const { answer } = useCall("disputes_summary", args, {
    isPaused: isPaused || !hasTool("disputes_summary"),
  });
  return unique(
    listOf(answer?.["items"]).map((item) => plainText(recordOf(item["key"])[grouping])),
  );
};

const toOptions = (all: string, values: readonly string[]) => [
  { value: "", text: all },
  ...values.map((value) => ({ value, text: value })),
];

type ControlProps = {
  args: Fields;
  change: (change: Fields) => void;
  /** Whether the choices need not be known yet. */
  isPaused: boolean;
};

const AssigneeChoice = ({ args, change, isPaused }: ControlProps) => {
  const selected = first(args["assignee"]);
  const people = unique([...useValues("assignee", isPaused), selected]);
  return (
    <Choice
      label="Assignee"
      value={args["unassigned"] === true ? UNASSIGNED : selected}
      options={[
        { value: "", text: "Everyone" },
        { value: UNASSIGNED, text: "Not assigned" },
        ...people.map((value) => ({ value, text: value })),
      ]}
      onChange={(value) =>
        change(
          value === UNASSIGNED
            ? { unassigned: true, assignee: undefined }
            : { unassigned: undefined, assignee: value },
        )
      }
    />
  );
};

type FilterBarProps = ControlProps & { currencies: readonly string[]; reset: () => void };

export const FilterBar = ({ args, currencies, change, reset, isPaused }: FilterBarProps) => {
  const reasons = useValues("reason", isPaused);
  const currency = first(args["currencyCode"]);
  return (
    <section class="filters" aria-label="Filters">
      <div class="fields">
        <Entry
          label="Account"
          type="search"
          placeholder="Part of the name"
          isLive
          value={first(args["accountName"])}
          onChange={(accountName) => change({ accountName })}
        />
        <Choice
          label="Reason"
          value={first(args["reason"])}
          options={toOptions("Any reason", unique([...reasons, first(args["reason"])]))}
          onChange={(reason) => change({ reason })}
        />
        <AssigneeChoice args={args} change={change} isPaused={isPaused} />
        <Choice
          label="Currency"
          value={currency}
          options={toOptions("All currencies", unique([...currencies, currency]))}
          onChange={(currencyCode) => change({ currencyCode })}
        />
        <Choice
          label="Order"
          value={first(args["orderBy"]) || "priority"}
          options={toChoices<string>(ORDERS)}
          onChange={(orderBy) => change({ orderBy })}
        />
        <button type="button" onClick={reset}>
          Clear filters
        </button>
      </div>
      <Conditions
        conditions={otherConditions(args)}
        remove={(name) => change({ [name]: undefined })}
      />
    </section>
  );
};
