import { registerHooks } from "node:module";

// Loaded before a server: its platform runs without audit entries, and is otherwise the same.
const AUDIT = new URL("../../src/platform/http/audit.ts", import.meta.url).href;
const NONE = new URL("no-audit.ts", import.meta.url).href;

registerHooks({
  resolve(specifier, context, next) {
    const found = next(specifier, context);
    return found.url === AUDIT && context.parentURL !== NONE ? { ...found, url: NONE } : found;
  },
});
