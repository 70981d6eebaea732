import fc from "fast-check";

type Amount = number | null | undefined;

export type Step = {
  act: "post" | "put" | "patch" | "close";
  denomination: Amount;
  denomination_in_base_currency: Amount;
};

const amount = fc.constantFrom<Amount>(undefined, undefined, null, 0, 0, 12.5, -3);

export const steps = fc.array(
  fc.record<Step>({
    act: fc.constantFrom("post", "put", "put", "patch", "patch", "patch", "close"),
    denomination: amount,
    denomination_in_base_currency: amount,
  }),
  { minLength: 4, maxLength: 12 },
);

export const AMOUNTS = ["denomination", "denomination_in_base_currency"] as const;

/** A document as the interface's table of states keeps it, written without a look at the platform's. */
export type Model = {
  exists: boolean;
  isOpen: boolean;
  kept: Map<string, number>;
  /** Why it was closed, each time; null where it closed by itself. */
  closures: (string | null)[];
};

export const newModel = (): Model => ({
  exists: false,
  isOpen: false,
  kept: new Map(),
  closures: [],
});

const close = (model: Model): number => {
  if (!model.exists) return 404;
  if (!model.isOpen) return 409;
  model.isOpen = false;
  model.closures.push("paid");
  return 200;
};

/** Keeps the amounts of a write and tells whether it names one that is not zero. */
const keep = (model: Model, step: Step): boolean => {
  if (step.act !== "patch") model.kept.clear();
  let namesAnAmount = false;
  for (const name of AMOUNTS) {
    const sent = step[name];
    if (sent === null) model.kept.delete(name);
    if (typeof sent !== "number") continue;
    model.kept.set(name, sent);
    if (Math.abs(sent) > 0) namesAnAmount = true;
  }
  return namesAnAmount;
};

/** Moves the model and gives the status that the answer must have. */
export const play = (model: Model, step: Step): number => {
  if (step.act === "close") return close(model);
  if (step.act === "patch" && !model.exists) return 404;
  if (step.act === "post" && model.exists) return 409;
  const status = model.exists ? 200 : 201;
  const namesAnAmount = keep(model, step);
  const isNothingLeft = [...model.kept.values()].some((kept) => kept === 0);
  if (isNothingLeft) {
    if (model.isOpen || !model.exists) model.closures.push(null);
    model.isOpen = false;
  } else if (!model.exists || namesAnAmount) {
    model.isOpen = true;
  }
  model.exists = true;
  return status;
};
