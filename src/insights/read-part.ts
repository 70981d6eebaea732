import { z } from "zod";
import type { Reply } from "../client/port.ts";
import { Problem } from "../contract/errors.ts";
import type { ArgsOf, Operation, OutputOf } from "../contract/operation.ts";
import type { InsightContext } from "./insight.ts";

/** A part of an answer that the platform does not give to this caller. It is never shown as zero. */
export const UnavailablePart = z.object({ available: z.literal(false), reason: z.string() });
export type Unavailable = z.infer<typeof UnavailablePart>;

export type Part<T> = { value: T; refused?: undefined } | { refused: Refusal };
type Refusal = Unavailable & { isAbsent: boolean };

/** A part that the platform does not offer, with the reason. */
export const absent = (reason: string): Refusal => ({ available: false, reason, isAbsent: true });

const describeRefusal = (
  { code, message, details: { permission } }: Problem,
  { access }: Operation,
): string =>
  code === "forbidden_permission" ? `The right "${permission ?? access}" is missing.` : message;

/** Whether an error says that a record does not exist, or that the platform does not offer an operation. */
export const isAbsence = (error: unknown): boolean =>
  error instanceof Problem && error.status === 404;

/** Runs a reading of several calls as one part; `operation` is the one whose right it needs. */
export const attemptPart = async <T>(
  { signal }: Pick<InsightContext, "signal">,
  operation: Operation,
  read: () => Promise<T>,
): Promise<Part<T>> => {
  try {
    return { value: await read() };
  } catch (error) {
    if (!(error instanceof Problem) || signal.aborted) throw error;
    const reason = describeRefusal(error, operation);
    return { refused: { available: false, reason, isAbsent: isAbsence(error) } };
  }
};

/** Reads one part of an answer: a refusal ends the part, not the answer. */
export const readPart = async <O extends Operation>(
  context: Pick<InsightContext, "call" | "signal">,
  operation: O,
  args: ArgsOf<O>,
): Promise<Part<OutputOf<O>> & { reply?: Reply<O> }> => {
  const part = await attemptPart(context, operation, () => context.call(operation, args));
  if (part.refused !== undefined) return part;
  return { value: part.value.output, reply: part.value };
};

export const toUnavailable = ({ reason }: Unavailable): Unavailable => ({
  available: false,
  reason,
});

/** Shows a part, or why there is none. */
export const showPart = <T, S>(part: Part<T>, show: (value: T) => S): S | Unavailable =>
  part.refused === undefined ? show(part.value) : toUnavailable(part.refused);
