import { createHash } from "node:crypto";
import type { Metafile } from "esbuild";

type Component = { "bom-ref": string };
/** The part of package-lock.json that names the version in each folder. */
export type Lock = { packages: Record<string, { version?: string } | undefined> };
export type Bom = {
  serialNumber: string;
  metadata: { timestamp?: string; component: { "bom-ref": string } & Record<string, unknown> };
  components: Component[];
  dependencies: { ref: string; dependsOn?: string[] }[];
};

const PACKAGE = /node_modules\/(?:@[^/]+\/)?[^/]+(?=\/)/g;

/** Returns the packages whose code is in the program, such as `zod@4.6.7`. */
const listBundled = ({ inputs }: Metafile, { packages }: Lock): Set<string> =>
  new Set(
    Object.keys(inputs).flatMap((path) => {
      const folders = path.match(PACKAGE) ?? [];
      const name = folders.at(-1)?.slice("node_modules/".length);
      const version = packages[folders.join("/")]?.version;
      return name === undefined || version === undefined ? [] : [`${name}@${version}`];
    }),
  );

const toUuid = (text: string): string =>
  createHash("sha256")
    .update(text)
    .digest("hex")
    .slice(0, 32)
    .replace(/^(.{8})(.{4}).(.{3}).(.{3})(.{12})$/, "$1-$2-4$3-8$4-$5");

/**
 * Returns the bill of materials of the program: of what npm lists for the lock file, the packages whose code is bundled.
 * Time and serial number, which differ at each call, follow from the content.
 */
export const reduceBom = (
  bom: Bom,
  metafile: Metafile,
  { name, license, lock }: { name: string; license: string; lock: Lock },
): Bom => {
  const bundled = listBundled(metafile, lock);
  const components = bom.components
    .filter((one) => bundled.has(one["bom-ref"]))
    .map((one) => ({ ...one, scope: "required" }));
  const refs = new Set(components.map((one) => one["bom-ref"]));
  const { timestamp: _timestamp, ...metadata } = bom.metadata;
  const own = metadata.component["bom-ref"];
  const dependencies = bom.dependencies
    .filter(({ ref }) => refs.has(ref) || ref === own)
    .map(({ ref, dependsOn = [] }) => ({ ref, dependsOn: dependsOn.filter((to) => refs.has(to)) }));
  const component = { ...metadata.component, name, licenses: [{ license: { id: license } }] };
  const serialNumber = `urn:uuid:${toUuid(JSON.stringify(components))}`;
  return { ...bom, serialNumber, metadata: { ...metadata, component }, components, dependencies };
};
