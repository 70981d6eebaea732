import type { z } from "zod";
import type { AnyField } from "../../../contract/credit-form.ts";

/** Rules of stored credit applications beyond the types of their fields. */

type Context = z.RefinementCtx;

const refuse = (context: Context, field: string, code: string, message: string): void =>
  context.addIssue({ code: "custom", path: [field], message, params: { code } });

const checkAnswers = (field: AnyField, context: Context): void => {
  const { length } = field.answerDetails;
  if (field.required && length === 0) {
    refuse(context, "answerDetails", "required", "must have an answer: the field is required");
  }
  if (!field.allowAdditionalAnswers && length > 1) {
    refuse(context, "answerDetails", "too_long", "may have one answer: no more are allowed");
  }
};

/** The required and allowed answers of a field, and when it has further questions. */
export const checkField = (
  field: Omit<AnyField, "secondaryFields"> & { secondaryFields: unknown[] },
  context: Context,
): void => {
  checkAnswers(field, context);
  if (field.hasSecondaryQuestions || field.secondaryFields.length === 0) return;
  const message = "must be empty: hasSecondaryQuestions is false";
  refuse(context, "secondaryFields", "conditional", message);
};

/** Fields that may not have further questions of their own. */
export const checkLeaf = (field: AnyField, context: Context): void => {
  checkAnswers(field, context);
  if (!field.hasSecondaryQuestions) return;
  const message = "must be false: secondary questions have none of their own";
  refuse(context, "hasSecondaryQuestions", "nesting", message);
};

export const checkReference = (
  reference: { submitted: boolean; submitDate: string | null },
  context: Context,
): void => {
  if (reference.submitted || reference.submitDate === null) return;
  refuse(context, "submitDate", "conditional", "must be null: nothing was submitted");
};

const oneOf =
  (field: string, known: readonly string[]) =>
  (part: Readonly<Record<string, unknown>>, context: Context): void => {
    if (known.includes(String(part[field]))) return;
    refuse(context, field, "enum", `must be one of ${known.join(", ")}`);
  };

export const checkPart = oneOf("status", ["Active", "Disabled"]);
export const checkFormType = oneOf("displayName", ["Internal Form", "External Form"]);
export const checkUser = oneOf("userType", [
  "INITIATOR",
  "REVIEWER",
  "APPROVER",
  "APPLICANT",
  "WATCHER",
]);

const COUNT = /^\d{1,9}$/;

export const checkCounts = (counts: Readonly<Record<string, string>>, context: Context): void => {
  for (const [name, count] of Object.entries(counts)) {
    if (!COUNT.test(count)) refuse(context, name, "format", 'must be a count as text, such as "2"');
  }
};
