// As `inspect.custom` of node:util, which is not needed for anything else.
const INSPECT = Symbol.for("nodejs.util.inspect.custom");

/** A string that no log line, template or JSON shows by accident; `reveal()` where it is used. */
export class Secret {
  readonly #text: string;

  constructor(text: string) {
    this.#text = text;
  }

  reveal(): string {
    return this.#text;
  }

  toString(): string {
    return "[secret]";
  }

  toJSON(): string {
    return "[secret]";
  }

  [INSPECT](): string {
    return "[secret]";
  }
}
