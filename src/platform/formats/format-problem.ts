/** Thrown for a file that cannot be read: it is damaged, needs a password, or exceeds a limit. */
export class FormatProblem extends Error {
  readonly kind: "broken" | "encrypted" | "limit";

  constructor(kind: FormatProblem["kind"], message: string) {
    super(message);
    this.kind = kind;
  }
}
