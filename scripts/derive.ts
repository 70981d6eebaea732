import { mkdirSync, writeFileSync } from "node:fs";
import { derived, faults } from "./derive/derived.ts";

const stale = derived().filter(({ is, should }) => is !== should);
const check = process.argv.includes("--check");

for (const { path, should } of stale) {
  const place = new URL(`../${path}`, import.meta.url);
  if (!check) {
    mkdirSync(new URL(".", place), { recursive: true });
    writeFileSync(place, should);
  }
  process.stderr.write(check ? `${path} is stale: npm run derive\n` : `${path} written\n`);
}

const broken = faults();
for (const fault of broken) process.stderr.write(`${fault}\n`);

if (broken.length > 0 || (check && stale.length > 0)) process.exitCode = 1;
