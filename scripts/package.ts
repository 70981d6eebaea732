import { join, resolve } from "node:path";
import { packPackage } from "./build/archive.ts";

// Another folder may be named, for tests.
await packPackage(resolve(process.argv[2] ?? join(import.meta.dirname, "..")));
