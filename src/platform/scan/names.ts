import { basename } from "node:path/posix";
import {
  type Extension,
  findExtension,
  FILE_TYPES,
  MAX_FILE_BYTES,
} from "../../contract/file-types.ts";
import { Refusal, type ScannedFile } from "./port.ts";

// Control characters, and bidirectional marks, with which a name can show a false extension.
const MISLEADING = /\p{Cc}|[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/u;

/** Extensions of files that Windows, macOS or Linux run, mount or configure themselves with when opened. */
const PROGRAMS = new Set(
  `ade adp apk app appcontent-ms appimage appinstaller application appref-ms appx appxbundle asp aspx bas bat
  cdxml chm class cmd com command cpl csh deb dll dmg docm dotm drv exe gadget hlp hta htc img inf ins iqy
  iso isp jar jnlp jse js ksh library-ms lnk mam mjs msc msh msi msix msixbundle msp mst msu ocx odc osd
  php pif pkg pl potm ppa ppam ppsm pptm ps1 ps1xml ps2 psc1 psd1 psm1 py pyc pyw pyz rb reg rpm run scf scpt
  scr sct search-ms searchconnector-ms settingcontent-ms sh shb shs sldm slk sys terminal theme themepack udl url
  vb vbe vbs vhd vhdx vsto vxd webloc website wim wll workflow ws wsb wsc wsf wsh xbap xlam xla xll xlm xlsm xltm
  zsh`.split(/\s+/),
);

/** Names whose settings make a file manager load or run something. */
const SETTINGS = new Set(["desktop.ini", "autorun.inf", ".htaccess"]);

// Windows ignores dots and spaces at the end of a name, and reads what follows a colon as a stream of the file.
const normalize = (name: string): string =>
  basename(name.replaceAll(/[\\:]/g, "/").replace(/[. ]{1,255}$/, "")).toLowerCase();

const parseEnding = (name: string): string => name.slice(name.lastIndexOf(".") + 1);

/** Returns the kind of program that a file's name claims, undefined if it claims none. */
export const findProgramKind = (name: string): string | undefined => {
  const base = normalize(name);
  if (SETTINGS.has(base)) return base;
  const ending = parseEnding(base);
  return base.includes(".") && PROGRAMS.has(ending) ? `.${ending}` : undefined;
};

const WEB_PAGE = /\.(?:x?html?|xht|shtml|mht|mhtml)$/;

/** Returns whether a file's name claims a web page, which browsers open with its scripts. */
export const isWebPageName = (name: string): boolean => WEB_PAGE.test(normalize(name));

/** Refuses names that show a false extension. @throws {Refusal} TYPE_MISMATCH */
export const checkVisible = (name: string): void => {
  if (!MISLEADING.test(name)) return;
  throw new Refusal("TYPE_MISMATCH", "The file's name contains invisible characters. Rename it.");
};

/** Returns the type of the name of a file inside another one, where `.jpg` means `.jpeg`. */
export const findContainedType = (name: string): Extension | undefined =>
  findExtension(normalize(name).replace(/\.(?:jpg|jpe|jfif)$/, ".jpeg"));

/** Checks a file's name and size, before its bytes are read. @throws {Refusal} */
export const checkNameAndSize = ({ fileName, size }: ScannedFile): Extension => {
  checkVisible(fileName);
  const extension = findExtension(fileName);
  if (extension === undefined) {
    const allowed = Object.keys(FILE_TYPES).join(" ");
    throw new Refusal(
      "TYPE_MISMATCH",
      `A file's name must end in one of ${allowed}. Put other files into a ZIP, or convert them.`,
    );
  }
  if (size === 0) throw new Refusal("EMPTY_FILE", "The file is empty.");
  if (size > MAX_FILE_BYTES) {
    throw new Refusal("TOO_LARGE", `A file may have ${MAX_FILE_BYTES} bytes at most.`);
  }
  return extension;
};
