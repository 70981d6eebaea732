import type { JsonSchemaValidator, jsonSchemaValidator } from "@modelcontextprotocol/client";
import { AjvJsonSchemaValidator } from "@modelcontextprotocol/client/validators/ajv";

const ajv = new AjvJsonSchemaValidator();
const compiled = new Map<string, JsonSchemaValidator<unknown>>();

/**
 * The validators of a client's own, compiled once for all clients of a worker: a client compiles the output schema of
 * each tool that it has listed, which takes a few tenths of a second.
 */
export const sharedValidators: jsonSchemaValidator = {
  getValidator<T>(schema: Parameters<jsonSchemaValidator["getValidator"]>[0]) {
    const text = JSON.stringify(schema);
    const validator = compiled.get(text) ?? ajv.getValidator(schema);
    compiled.set(text, validator);
    return validator as JsonSchemaValidator<T>;
  },
};
