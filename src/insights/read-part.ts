import { z } from "zod";
import type { Reply } from "../client/port.ts";
import { Problem } from "../contract/errors.ts";
import type { Operation } from "../contract/operation.ts";
import type { Fields, InsightContext } from "./insight.ts";

/** A part of an answer that the platform does not give to this caller. It is never shown as zero. */
export const UnavailablePart = z.object({ available: z.literal(false), reason: z.string() });
export type Unavailable = z.infer<typeof UnavailablePart>;

export type Part<T> = { value: T; refused?: undefined } | { refused: Refusal };
type Refusal = Unavailable & { isAbsent: boolean };

const describeRefusal = (
  { code, message, details: { permission } }: Problem,
  { access }: Operation,
): string =>
  code === "forbidden_permission" ? `The right "${permission ?? access}" is missing.` : message;

const isAbsence = ({ status }: Problem): boolean => status === 404;

/** The record that an operation answers with. */
type OutputOf<O extends Operation> = O["output"] extends z.ZodType ? z.output<O["output"]> : null;

/** Reads one part of an answer: a refusal ends the part, not the answer. */
export const readPart = async <O extends Operation>(
  { call, signal }: Pick<InsightContext, "call" | "signal">,
  operation: O,
  args: Fields,
): Promise<Part<OutputOf<O>> & { reply?: Reply }> => {
  try {
    const reply = await call(operation, args);
    return { value: reply.output as OutputOf<O>, reply };
  } catch (error) {
    if (!(error instanceof Problem) || signal.aborted) throw error;
    const reason = describeRefusal(error, operation);
    return { refused: { available: false, reason, isAbsent: isAbsence(error) } };
  }
};

export const toUnavailable = ({ reason }: Unavailable): Unavailable => ({
  available: false,
  reason,
});
