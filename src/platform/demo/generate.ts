import type { DisputeNoteRow, DisputeRow, DisputeSequenceRow } from "../store/tables.ts";
import { cases } from "./cases.ts";
import { type Configuration, configuration, type Making } from "./configuration.ts";
import { createDice } from "./dice.ts";
import { disputes } from "./disputes.ts";
import { accounts } from "./ledger.ts";
import { notes } from "./notes.ts";

/** The rows of the demo tenant's disputes and of what they refer to. */
export type DemoRows = Configuration & {
  disputes: DisputeRow[];
  sequences: DisputeSequenceRow[];
  notes: DisputeNoteRow[];
};

export type DemoOptions = Omit<Making, "dice"> & { seed: number };

/** The same seed, moment and users give the same rows; another moment gives the same story on its own dates. */
export const generateDemo = ({ seed, ...options }: DemoOptions): DemoRows => {
  const making: Making = { ...options, dice: createDice(seed) };
  const known = configuration(making);
  const made = disputes(making, cases(making.dice, accounts(making.dice)), known);
  return {
    ...known,
    disputes: made.disputes.map(({ row }) => row),
    sequences: made.sequences,
    notes: notes(making, made.disputes),
  };
};
