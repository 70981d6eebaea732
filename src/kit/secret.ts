const HIDDEN = "[secret]";

// The value of `inspect.custom` in node:util, without loading that module.
const INSPECT = Symbol.for("nodejs.util.inspect.custom");

/** A string that prints as `[secret]` in logs, templates and JSON. Call `reveal()` where the value is used. */
export class Secret {
  readonly #text: string;

  constructor(text: string) {
    this.#text = text;
  }

  reveal(): string {
    return this.#text;
  }

  toString(): string {
    return HIDDEN;
  }

  toJSON(): string {
    return HIDDEN;
  }

  [INSPECT](): string {
    return HIDDEN;
  }
}

export const toSecret = (text: string | undefined): Secret | undefined =>
  text === undefined ? undefined : new Secret(text);

/** Returns a text with each of these secrets replaced. */
export const hideSecrets = (text: string, secrets: readonly string[]): string =>
  secrets.reduce((left, secret) => left.replaceAll(secret, HIDDEN), text);
