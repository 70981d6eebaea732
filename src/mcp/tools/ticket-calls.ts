import type { CallArguments } from "../../contract/operation.ts";
import type { CallToolResult, InputRequiredResult } from "@modelcontextprotocol/server";
import { z } from "zod";
import { toFaults } from "../../contract/faults.ts";
import { CONFIRM_TOOL } from "../../views/views.ts";
import { present } from "../results/answer.ts";
import { refuseArguments } from "./arguments/arguments.ts";
import { discardLeave, invalidConfirmation } from "./asking/leave.ts";
import type { RunCall } from "./run-call.ts";
import { createTickets, type TicketCall } from "./asking/tickets.ts";
import type { ToolContext } from "./tool-context.ts";

type CallResult = CallToolResult | InputRequiredResult;

type Answer = { args: CallArguments; client: string; signal: AbortSignal };

/** A call that a person has approved in a view, with the leave to make it. */
export type ApprovedCall = TicketCall & { leave: unknown };

const Input = z.strictObject({ ticket: z.string().min(1), decline: z.boolean().default(false) });

const readInput = (args: CallArguments): z.infer<typeof Input> => {
  const { data, error } = Input.safeParse(args, { reportInput: true });
  if (data === undefined) throw refuseArguments({ name: CONFIRM_TOOL }, toFaults(error));
  return data;
};

/**
 * Creates the handler of a person's answer in the confirmation view: `carryOut` makes the call that was approved. A
 * ticket counts once, for the caller and the program that received it.
 */
export const createTicketCalls = (
  { key, caller, now, replayGuard }: ToolContext,
  run: RunCall,
  carryOut: (call: ApprovedCall) => Promise<CallResult>,
) => {
  const tickets = createTickets(key);

  const open = (ticket: string, client: string): ApprovedCall => {
    const call = tickets.open(ticket);
    if (call === undefined) throw invalidConfirmation("is not one that this server gave");
    if (call.caller !== caller || call.client !== client) {
      throw invalidConfirmation("was given to another program or person");
    }
    return call;
  };

  const decline = async ({ leave }: ApprovedCall): Promise<CallToolResult> => {
    await discardLeave({ now, replayGuard }, leave);
    const notes = ["The person declined; nothing was changed."];
    return present({ structured: { declined: true }, notes, etag: null });
  };

  return async ({ args, client, signal }: Answer): Promise<CallResult> => {
    const called = { name: CONFIRM_TOOL, tool: null, args, signal };
    let approved: ApprovedCall;
    try {
      const input = readInput(args);
      approved = open(input.ticket, client);
      if (input.decline) return await run(called, () => decline(approved));
    } catch (error) {
      return run(called, () => Promise.reject(error));
    }
    // Logged, limited and answered as a call of the tool itself.
    return carryOut(approved);
  };
};
