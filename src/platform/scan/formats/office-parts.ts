import { mismatch } from "../scan-context.ts";

/** Content types of parts that hold text, numbers, styles, charts and pictures. */
const FAMILIES: Readonly<Record<string, string>> = {
  "application/vnd.openxmlformats-officedocument.wordprocessingml.":
    "document.main styles stylesWithEffects settings webSettings fontTable numbering footnotes endnotes comments commentsExtended commentsIds commentsExtensible people header footer document.glossary",
  "application/vnd.openxmlformats-officedocument.spreadsheetml.":
    "sheet.main worksheet chartsheet sharedStrings styles calcChain comments table pivotTable pivotCacheDefinition pivotCacheRecords sheetMetadata",
  "application/vnd.openxmlformats-officedocument.":
    "theme themeOverride drawing drawingml.chart drawingml.chartshapes drawingml.diagramData drawingml.diagramLayout drawingml.diagramStyle drawingml.diagramColors extended-properties custom-properties customXmlProperties",
  "application/vnd.openxmlformats-package.": "relationships core-properties",
  "application/vnd.ms-office.": "chartstyle chartcolorstyle drawingml.diagramDrawing",
  "application/vnd.ms-excel.": "threadedcomments person",
};

const CONTENT_TYPES = new Set(
  [
    ...Object.entries(FAMILIES).flatMap(([prefix, names]) =>
      names.split(" ").map((name) => `${prefix}${name}+xml`),
    ),
    "application/vnd.openxmlformats-officedocument.spreadsheetml.printerSettings",
    "application/vnd.openxmlformats-officedocument.wordprocessingml.printerSettings",
    "application/vnd.openxmlformats-officedocument.vmlDrawing",
    "application/xml",
    "text/xml",
    ..."png jpeg jpg gif bmp tiff x-emf x-wmf".split(" ").map((name) => `image/${name}`),
  ].map((type) => type.toLowerCase()),
);

/** Allowed relationship types, by the last segment of their URI. */
const RELATIONSHIPS = new Set(
  "officedocument core-properties extended-properties custom-properties thumbnail styles styleswitheffects settings websettings fonttable numbering footnotes endnotes comments commentsextended commentsids commentsextensible people person threadedcomment header footer glossarydocument theme themeoverride image hyperlink worksheet chartsheet sharedstrings calcchain table pivottable pivotcachedefinition pivotcacherecords sheetmetadata printersettings drawing vmldrawing chart chartusershapes chartstyle chartcolorstyle diagramdata diagramlayout diagramquickstyle diagramcolors diagramdrawing customxml customxmlprops".split(
    " ",
  ),
);

const SAFE_LINK = /^(?:https?:\/\/|mailto:)[^\\]/i;
const LEADS_OUT = /^[a-z][a-z0-9+.-]*:|^[\\/]{2}|\\/i;
/** Word fields that load a file or start a program. Quoted strings are removed before the match. */
const ACTIVE_FIELD =
  /DDE(?:AUTO)?\b|\b(?:INCLUDE(?:PICTURE|TEXT)?|IMPORT|LINK|EMBED|DATABASE|RD|QUOTE|MACROBUTTON|AUTOTEXT(?:LIST)?|CONTROL|HTMLCONTROL|ADDIN|MERGEFIELD)\b/i;

export const createActiveRefusal = (what: string) =>
  mismatch(`The Office file holds ${what}. Save it as PDF, and attach that.`);

export const checkContentType = (type: string): void => {
  if (!CONTENT_TYPES.has(type.trim().toLowerCase())) {
    throw createActiveRefusal("macros, embedded objects, or a part of an unknown type");
  }
};

/** Decodes percent-encoding; returns undefined if it is invalid. */
const decodePercent = (target: string): string | undefined => {
  try {
    return decodeURIComponent(target).trim();
  } catch {
    return undefined;
  }
};

export type Attributes = Readonly<Record<string, string>>;

export const checkRelationship = ({
  Type = "",
  Target = "",
  TargetMode = "",
}: Attributes): void => {
  const type = Type.trim().toLowerCase();
  const name = type.slice(type.lastIndexOf("/") + 1);
  const mode = TargetMode.trim().toLowerCase();
  const target = decodePercent(Target);
  if (
    !RELATIONSHIPS.has(name) ||
    target === undefined ||
    !["", "internal", "external"].includes(mode)
  ) {
    throw createActiveRefusal("an embedded object, a template, or a link of an unknown kind");
  }
  const isSafe =
    mode === "external"
      ? name === "hyperlink" && SAFE_LINK.test(target)
      : !LEADS_OUT.test(target) && !LEADS_OUT.test(Target.trim());
  if (!isSafe) throw createActiveRefusal("parts that are loaded from elsewhere");
};

/** Refuses field codes that load a file or start a program. Each field begins with a line feed. */
export const checkFields = (codes: string): void => {
  if (ACTIVE_FIELD.test(codes.replaceAll(/"[^"]*"/g, '""'))) {
    throw createActiveRefusal("fields that load or start something");
  }
};

/** Refuses VML drawings whose attributes name a picture outside the file. */
export const checkDrawing = (attributes: Attributes): void => {
  const sources = ["src", "o:href", "r:href"].flatMap((name) => attributes[name] ?? []);
  if (sources.some((source) => LEADS_OUT.test((decodePercent(source) ?? "\\").trim()))) {
    throw createActiveRefusal("pictures that are loaded from elsewhere");
  }
};
