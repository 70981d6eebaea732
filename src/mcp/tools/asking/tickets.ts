import type { CallArguments } from "../../../contract/operation.ts";
import { z } from "zod";
import { createSeal } from "../../../kit/seal.ts";
import { isRecord } from "../../../kit/json.ts";

/** The call that a person approves in a view. */
export type TicketCall = {
  tool: string;
  /** The arguments as the model sent them. */
  args: CallArguments;
  /** The caller's id, and the authorization and the program that called. */
  caller: string;
  client: string;
};

/** The largest size of the arguments in a ticket, in characters of JSON. */
const MAX_ARGUMENTS = 256 * 1024;

const Sealed = z.tuple([z.unknown(), z.string(), z.unknown(), z.string(), z.string()]);

/**
 * Tickets of the confirmation view. A ticket seals the whole call together with the leave to make it, so that any node
 * can carry it out, and a view can carry out nothing else.
 */
export const createTickets = (key: Buffer) => {
  const seal = createSeal(key, "mcp/confirmation-ticket");
  return {
    /** Returns the ticket; undefined if the arguments are too large for one. */
    write(leave: unknown, { tool, args, caller, client }: TicketCall): string | undefined {
      const ticket = [leave, tool, args, caller, client];
      return JSON.stringify(args).length > MAX_ARGUMENTS ? undefined : seal.seal(ticket);
    },
    /** Returns the call and its leave; undefined for text that is no ticket of this server. */
    open(ticket: string): (TicketCall & { leave: unknown }) | undefined {
      const { data } = Sealed.safeParse(seal.open(ticket));
      if (data === undefined) return undefined;
      const [leave, tool, args, caller, client] = data;
      return isRecord(args) ? { leave, tool, args, caller, client } : undefined;
    },
  };
};
