import { join, resolve } from "node:path";
import { bundle } from "./build/bundle.ts";

const root = join(import.meta.dirname, "..");
// Another folder than dist/ may be named, for tests.
await bundle(resolve(root, process.argv[2] ?? "dist"));
