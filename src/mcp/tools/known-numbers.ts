import type { Broker } from "../../broker/port.ts";
import type { CallOptions } from "../../client/port.ts";
import { contract } from "../../contract/index.ts";
import { Problem } from "../../contract/errors.ts";
import type { Operation } from "../../contract/operation.ts";
import { sanitizeLine } from "../results/sanitize.ts";

type Args = Record<string, unknown>;
type Context = { broker: Broker; options: CallOptions };

/** The argument with a number, the list that searches such numbers, and the number's field in its rows. */
type Numbered = { argument: string; list: Operation; field: string };

const { accounts, documents } = contract;

const NUMBERED: Readonly<Record<string, Numbered>> = {
  account_not_found: { argument: "account_number", list: accounts.list, field: "accountNumber" },
  document_not_found: {
    argument: "document_number",
    list: documents.list,
    field: "documentNumber",
  },
};

const MAX_SIMILAR = 5;

/** Returns the numbers that contain a text; undefined if the platform does not list these records. */
const searchNumbers = async (
  { broker, options }: Context,
  { list, field }: Numbered,
  search: string,
): Promise<string[] | undefined> => {
  try {
    const { output } = await broker.call(list, { search, limit: MAX_SIMILAR }, options);
    const { data } = output as { data: Args[] };
    return data.map((row) => String(row[field]));
  } catch (error) {
    if (!(error instanceof Problem) || options.signal?.aborted === true) throw error;
    return undefined;
  }
};

const isSame = (one: string, other: string): boolean => one.toLowerCase() === other.toLowerCase();

/**
 * Reads a record by its account or document number. If the platform knows the number only in another letter case, that
 * record is read; if it knows similar numbers, the error names them.
 *
 * @throws {Problem}
 */
export const readByNumber = async <T>(
  context: Context,
  args: Args,
  read: (args: Args) => Promise<T>,
): Promise<T> => {
  try {
    return await read(args);
  } catch (error) {
    const numbered = error instanceof Problem ? NUMBERED[error.code] : undefined;
    const sent = numbered === undefined ? undefined : args[numbered.argument];
    if (!(error instanceof Problem) || numbered === undefined || typeof sent !== "string") {
      throw error;
    }
    const similar = await searchNumbers(context, numbered, sent);
    const [spelling, ...others] = similar?.filter((number) => isSame(number, sent)) ?? [
      sent.toUpperCase(),
    ];
    if (spelling !== undefined && others.length === 0 && spelling !== sent) {
      const sameRecord = { ...args, [numbered.argument]: spelling };
      return read(sameRecord).catch(() => {
        throw error;
      });
    }
    if (similar === undefined || similar.length === 0) throw error;
    const listed = similar.map((number) => sanitizeLine(number, 80)).join(", ");
    throw new Problem(error.code, `${error.message} Similar: ${listed}.`, error.details, error);
  }
};
