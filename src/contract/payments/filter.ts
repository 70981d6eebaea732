import { isRecord } from "../../kit/json.ts";
import { firstCharacters } from "../../kit/text.ts";
import type { Fault } from "../errors.ts";
import { findField, type Source } from "./catalogue.ts";
import type { Field } from "./field.ts";
import {
  describeBareValue,
  GROUPS,
  suggestAlternative,
  describeListForm,
  describeRelativeDay,
  describeUnknownFilterKey,
  FILTER_EXAMPLE,
  describeWrongOperator,
} from "./hints.ts";
import { type Operator, OPERATOR_NAMES } from "./operators.ts";
import { isMeantRelative } from "./relative-days.ts";
import { checkValue, type Scalar } from "./value.ts";

/** A parsed filter. A null value matches only `isNull`, so `not` includes rows with nulls (two-valued logic, unlike SQL). */
export type Filter =
  | { as: "all"; of: Filter[] }
  | { as: "any"; of: Filter[] }
  | { as: "not"; of: Filter }
  | { as: "is"; field: Field; operator: Operator; value: Scalar | Scalar[] };

export const MAX_CONDITIONS = 100;
export const MAX_DEPTH = 5;
export const MAX_LIST_ITEMS = 1000;

const TEXT_OPERATORS: ReadonlySet<Operator> = new Set<Operator>([
  "contains",
  "startsWith",
  "endsWith",
]);

// Each fault costs a search for similar names, so the number is bounded.
export const MAX_FAULTS = 100;

/** Parses the filters of one source and collects every fault, up to MAX_FAULTS, instead of stopping at the first. */
class FilterParser {
  readonly source: Source;
  readonly faults: Fault[] = [];
  #conditions = 0;

  constructor(source: Source) {
    this.source = source;
  }

  /** Whether there is no use in reading on: a body has tens of thousands of conditions. */
  get #isHopeless(): boolean {
    return this.faults.length >= MAX_FAULTS || this.#conditions > MAX_CONDITIONS;
  }

  #refuse(field: string, code: string, message: string): void {
    this.faults.push({ field: firstCharacters(field, 200), code, message });
  }

  /** Parses one object; its conditions are combined with AND. */
  object(sent: unknown, at: string, depth: number): Filter[] {
    if (!isRecord(sent)) {
      this.#refuse(
        at,
        "type",
        `must be an object of conditions by field, such as ${FILTER_EXAMPLE}`,
      );
      return [];
    }
    const names = Object.keys(sent);
    if (depth > 0 && names.length === 0) {
      this.#refuse(at, "empty", "must contain at least one condition");
    }
    return names.flatMap((name) => {
      if (this.#isHopeless) return [];
      const path = `${at}.${name}`;
      return GROUPS.some((group) => group === name)
        ? this.#group(name, sent[name], path, depth + 1)
        : this.#field(name, sent[name], path);
    });
  }

  #group(name: string, sent: unknown, at: string, depth: number): Filter[] {
    if (depth > MAX_DEPTH) {
      this.#refuse(at, "depth", `must be nested at most ${MAX_DEPTH} levels deep`);
      return [];
    }
    if (name === "not") return [{ as: "not", of: { as: "all", of: this.object(sent, at, depth) } }];
    if (!Array.isArray(sent)) {
      const example = `{"${name}": [{"poNumber": {"eq": "A"}}, {"poNumber": {"isNull": true}}]}`;
      this.#refuse(at, "type", `must be a list of filters, such as ${example}`);
      return [];
    }
    if (sent.length === 0) this.#refuse(at, "empty", "must not be empty");
    const of = sent.map((part, place): Filter => ({
      as: "all",
      of: this.object(part, `${at}[${place}]`, depth),
    }));
    return [{ as: name === "and" ? "all" : "any", of }];
  }

  #field(name: string, sent: unknown, at: string): Filter[] {
    const field = findField(this.source, name);
    if (field === undefined) {
      this.#refuse(at, "unknown", describeUnknownFilterKey(this.source, name));
      return [];
    }
    if (!isRecord(sent)) {
      this.#refuse(at, "type", describeBareValue(field, sent));
      return [];
    }
    const operators = Object.keys(sent);
    if (operators.length === 0) {
      this.#refuse(at, "empty", `must have an operator: ${field.operators.join(", ")}`);
    }
    return operators.flatMap((word) =>
      this.#isHopeless ? [] : this.#condition(field, word, sent[word], `${at}.${word}`),
    );
  }

  #condition(field: Field, word: string, sent: unknown, at: string): Filter[] {
    this.#conditions += 1;
    if (this.#conditions > MAX_CONDITIONS) {
      this.#refuse(at, "too_long", `exceeds the limit of ${MAX_CONDITIONS} conditions per query`);
      return [];
    }
    const operator = OPERATOR_NAMES.find((known) => known === word);
    if (operator === undefined || !field.operators.includes(operator)) {
      const code = operator === undefined ? "unknown" : "operator";
      this.#refuse(at, code, describeWrongOperator(field, word, sent));
      return [];
    }
    const value = this.#value(field, operator, sent, at);
    return value === undefined ? [] : [{ as: "is", field, operator, value }];
  }

  #value(field: Field, operator: Operator, sent: unknown, at: string) {
    if (operator === "isNull") return this.#flag(sent, at);
    if (operator === "in" || operator === "nin" || operator === "between") {
      return this.#list(field, operator, sent, at);
    }
    if (sent === "" && TEXT_OPERATORS.has(operator)) {
      this.#refuse(at, "empty", "must not be empty");
      return undefined;
    }
    return this.#one(field, operator, sent, at);
  }

  #flag(sent: unknown, at: string): boolean | undefined {
    if (typeof sent === "boolean") return sent;
    this.#refuse(at, "type", "must be true or false");
    return undefined;
  }

  #one(field: Field, operator: Operator, sent: unknown, at: string): Scalar | undefined {
    if (isMeantRelative(sent)) {
      this.#refuse(at, "format", describeRelativeDay(field));
      return undefined;
    }
    const checked = checkValue(field, sent);
    if ("value" in checked) return checked.value;
    this.#refuse(at, checked.code, checked.message + suggestAlternative(field, operator, sent));
    return undefined;
  }

  #list(field: Field, operator: Operator, sent: unknown, at: string): Scalar[] | undefined {
    if (!Array.isArray(sent) || (operator === "between" && sent.length !== 2)) {
      this.#refuse(at, "type", describeListForm(field, operator));
      return undefined;
    }
    if (sent.length === 0) this.#refuse(at, "empty", "must not be empty");
    if (sent.length > MAX_LIST_ITEMS) {
      this.#refuse(at, "too_long", `must have at most ${MAX_LIST_ITEMS} items`);
      return undefined;
    }
    const values = sent.map((one, place) => this.#one(field, operator, one, `${at}[${place}]`));
    return values.filter((value) => value !== undefined);
  }
}

/** Parses the filters of a request against a source's fields. */
export const parseFilter = (
  source: Source,
  sent: unknown,
): { filter: Filter; faults: readonly Fault[] } => {
  const reader = new FilterParser(source);
  const of = reader.object(sent, "filters", 0);
  return { filter: { as: "all", of }, faults: reader.faults };
};

/** Returns a text that is equal for equal filters, independent of the order of conditions. */
export const canonicalize = (filter: Filter): string => {
  if (filter.as === "is") {
    return JSON.stringify([filter.field.name, filter.operator, filter.value]);
  }
  if (filter.as === "not") return `not(${canonicalize(filter.of)})`;
  return `${filter.as}(${filter.of.map(canonicalize).toSorted().join(",")})`;
};
