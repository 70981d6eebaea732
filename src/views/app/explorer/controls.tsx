import { recordOf } from "../answers.ts";
import { plainText, words } from "../format.ts";
import type { Fields } from "../host.ts";
import { Choice, Entry } from "../ui/fields.tsx";
import { type Condition, Conditions } from "../ui/conditions.tsx";
import { type Source, SOURCES, sourceOf } from "./sources.ts";

const NO_GROUP = "";

/** Another source has other fields, so that no condition or measure can stay. */
const FRESH: Fields = {
  groupBy: ["paymentDate:month"],
  filters: {},
  measures: undefined,
  orderBy: undefined,
};

const groupName = (grouping: string): string => {
  const [field = "", unit] = grouping.split(":");
  return unit === undefined ? words(field) : `${words(unit)} of ${words(field).toLowerCase()}`;
};

const without = (filters: Fields, name: string): Fields =>
  Object.fromEntries(Object.entries(filters).filter(([key]) => key !== name));

/** Returns the filters with the conditions on one field replaced; without any, the field is left out. */
const withCondition = (filters: Fields, name: string, condition: Fields): Fields => {
  const nonEmpty = Object.entries(condition).filter(
    ([, value]) => value !== "" && value !== undefined,
  );
  const rest = without(filters, name);
  return nonEmpty.length === 0 ? rest : { ...rest, [name]: Object.fromEntries(nonEmpty) };
};

const otherConditions = (filters: Fields, name: string): Condition[] =>
  Object.entries(without(without(filters, "paymentDate"), name)).map(([field, condition]) => ({
    name: field,
    text: `${words(field)}: ${plainText(JSON.stringify(condition))}`,
  }));

const toGroupings = ({ groupings }: Source, groupBy: readonly string[]) => {
  const grouping = groupBy.join(" + ");
  const isKnown = groupings.includes(grouping) || grouping === NO_GROUP;
  return [
    { value: NO_GROUP, text: "Currency only" },
    ...(isKnown ? [] : [{ value: grouping, text: groupBy.map(groupName).join(", ") }]),
    ...groupings.map((value) => ({ value, text: groupName(value) })),
  ];
};

type ControlsProps = { args: Fields; change: (args: Fields) => void };

/** Source, grouping and the usual filters; conditions that have no control are kept and named. */
export const Controls = ({ args, change }: ControlsProps) => {
  const source = sourceOf(args["source"]);
  const groupBy = Array.isArray(args["groupBy"]) ? args["groupBy"].map(plainText) : [];
  const grouping = groupBy.join(" + ");
  const filters = recordOf(args["filters"]);
  const date = recordOf(filters["paymentDate"]);
  const name = recordOf(filters[source.name]);
  const set = (field: string, condition: Fields): void =>
    change({ filters: withCondition(filters, field, condition) });
  const others = otherConditions(filters, source.name);
  return (
    <section class="filters" aria-label="Grouping and filters">
      <div class="fields">
        <Choice
          label="Source"
          value={source.id}
          options={Object.entries(SOURCES).map(([value, { title }]) => ({ value, text: title }))}
          onChange={(value) => change({ ...FRESH, source: value })}
        />
        <Choice
          label="Group by"
          value={grouping}
          options={toGroupings(source, groupBy)}
          onChange={(value) =>
            change({ groupBy: value === NO_GROUP ? [] : [value], orderBy: undefined })
          }
        />
        <Entry
          label="From"
          type="date"
          value={plainText(date["gte"])}
          onChange={(gte) => set("paymentDate", { ...date, gte })}
        />
        <Entry
          label="To"
          type="date"
          value={plainText(date["lte"])}
          onChange={(lte) => set("paymentDate", { ...date, lte })}
        />
        <Entry
          label={words(source.name)}
          placeholder="Part of the name"
          isLive
          value={plainText(name["contains"])}
          onChange={(contains) => set(source.name, { ...name, contains })}
        />
      </div>
      <Conditions
        conditions={others}
        remove={(field) => change({ filters: without(filters, field) })}
      />
    </section>
  );
};
