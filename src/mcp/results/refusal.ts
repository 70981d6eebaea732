import { ERRORS, type Code, type Fault, Problem } from "../../contract/errors.ts";

/** Refusals that only the MCP server knows: a person did not say yes, could not be asked, or has to act themselves. */
export const OWN_CODES = {
  declined: 403,
  confirmation_required: 428,
  confirmation_invalid: 409,
  confirmation_unavailable: 403,
  sign_in_required: 401,
} as const;

export type OwnRefusal = keyof typeof OWN_CODES;
export type RefusalCode = OwnRefusal | Code;

/** A confirmation by token, for hosts that cannot ask a person. */
export type Confirmation = {
  confirmationToken: string;
  expiresAt: string;
  summary: string;
  /** The address at which the person approves; the token is valid only after that. */
  page?: string;
};

type RefusalDetails = {
  confirmation?: Confirmation;
  /** The next step, in place of the one for the code. */
  nextStep?: string;
};

/** A confirmation that did not come about. Nothing has been changed. */
export class Refusal extends Error {
  readonly code: OwnRefusal;
  readonly confirmation: Confirmation | undefined;
  readonly nextStep: string | undefined;

  constructor(code: OwnRefusal, message: string, { confirmation, nextStep }: RefusalDetails = {}) {
    super(message);
    this.name = "Refusal";
    this.code = code;
    this.confirmation = confirmation;
    this.nextStep = nextStep;
  }
}

export const statusOf = (code: RefusalCode): number =>
  code in OWN_CODES ? OWN_CODES[code as OwnRefusal] : ERRORS[code as Code].status;

export const badArguments = (message: string, errors: Fault[]): Problem =>
  new Problem("invalid_request", message, { errors });

export const badCursor = (message: string): Problem =>
  new Problem("invalid_parameter", message, {
    errors: [{ field: "cursor", code: "format", message: "cannot be used here" }],
  });

/** Creates the problem of a response that the platform's documents do not describe. */
export const malformedResponse = (): Problem =>
  new Problem("unavailable", "The platform's answer does not have the documented form.");
