import { createHash } from "node:crypto";
import type { Metafile } from "esbuild";

type Component = {
  "bom-ref": string;
  name: string;
  properties: { name: string; value: string }[];
};
export type Bom = {
  serialNumber: string;
  metadata: { timestamp?: string; component: { "bom-ref": string } & Record<string, unknown> };
  components: Component[];
  dependencies: { ref: string; dependsOn?: string[] }[];
};

const PACKAGE = /node_modules\/(?:@[^/]+\/)?[^/]+(?=\/)/g;

/** Returns the folders of the packages whose code is in the program, such as `node_modules/zod`. */
const listBundled = ({ inputs }: Metafile): Set<string> =>
  new Set(
    Object.keys(inputs).flatMap((path) => {
      const folders = path.match(PACKAGE) ?? [];
      return folders.length === 0 ? [] : [folders.join("/")];
    }),
  );

const folderOf = ({ properties }: Component): string =>
  properties.find(({ name }) => name === "cdx:npm:package:path")?.value ?? "";

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
  { name, license }: { name: string; license: string },
): Bom => {
  const bundled = listBundled(metafile);
  const components = bom.components
    .filter((one) => bundled.has(folderOf(one)))
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
