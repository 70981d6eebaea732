/** What the SDK takes from Node, less its JSON Schema validator, which this server replaces and would load at every start. */
export const process = globalThis.process;

export class DefaultJsonSchemaValidator {
  getValidator(): never {
    throw new TypeError("this program was built without a JSON Schema validator");
  }
}
