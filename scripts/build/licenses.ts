import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";

const ROOT = join(import.meta.dirname, "../..");

/** The names of files with the terms of a package. */
const TERMS = /^(licen[sc]e|copying|notice|unlicense)([-._].*)?$/i;

const INNERMOST = /^.*node_modules\/(?:@[^/]+\/)?[^/]+(?=\/)/;

type About = {
  name: string;
  version: string;
  license?: string;
  author?: string | { name?: string };
  repository?: string | { url?: string };
};

const MIT = `Permission is hereby granted, free of charge, to any person obtaining a copy of this software and associated documentation files (the "Software"), to deal in the Software without restriction, including without limitation the rights to use, copy, modify, merge, publish, distribute, sublicense, and/or sell copies of the Software, and to permit persons to whom the Software is furnished to do so, subject to the following conditions:

The above copyright notice and this permission notice shall be included in all copies or substantial portions of the Software.

THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED, INCLUDING BUT NOT LIMITED TO THE WARRANTIES OF MERCHANTABILITY, FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE AUTHORS OR COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR OTHERWISE, ARISING FROM, OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE SOFTWARE.`;

const ISC = `Permission to use, copy, modify, and/or distribute this software for any purpose with or without fee is hereby granted, provided that the above copyright notice and this permission notice appear in all copies.

THE SOFTWARE IS PROVIDED "AS IS" AND THE AUTHOR DISCLAIMS ALL WARRANTIES WITH REGARD TO THIS SOFTWARE INCLUDING ALL IMPLIED WARRANTIES OF MERCHANTABILITY AND FITNESS. IN NO EVENT SHALL THE AUTHOR BE LIABLE FOR ANY SPECIAL, DIRECT, INDIRECT, OR CONSEQUENTIAL DAMAGES OR ANY DAMAGES WHATSOEVER RESULTING FROM LOSS OF USE, DATA OR PROFITS, WHETHER IN AN ACTION OF CONTRACT, NEGLIGENCE OR OTHER TORTIOUS ACTION, ARISING OUT OF OR IN CONNECTION WITH THE USE OR PERFORMANCE OF THIS SOFTWARE.`;

/** The texts of licences of packages that name one in package.json, and have no file with its terms. */
const STANDARD: Readonly<Record<string, (holder: string) => string>> = {
  MIT: (holder) => `Copyright (c) ${holder}\n\n${MIT}`,
  "MIT/X11": (holder) => `Copyright (c) ${holder}\n\n${MIT}`,
  ISC: (holder) => `Copyright (c) ${holder}\n\n${ISC}`,
  // The text is the same for all; LICENSE of this package has it.
  "Apache-2.0": (holder) =>
    `Copyright ${holder}\n\nLicensed under the Apache License, Version 2.0, whose text is in the file LICENSE of this package.`,
};

const nameOf = (author: About["author"]): string | undefined =>
  typeof author === "string" ? author : author?.name;

/** Returns the folders of the packages whose files these are; sorted, relative to the checkout. */
export const listPackageFolders = (inputs: readonly string[]): string[] =>
  [
    ...new Set(
      inputs.flatMap((path) => {
        const start = path.indexOf("node_modules/");
        const [folder] = start < 0 ? [] : (INNERMOST.exec(path.slice(start)) ?? []);
        return folder === undefined ? [] : [folder];
      }),
    ),
  ].toSorted();

/** Returns the terms of a package. @throws {Error} if they are unknown */
const readTerms = async (folder: string, about: About): Promise<string> => {
  const names = (await readdir(folder)).filter((name) => TERMS.test(name)).toSorted();
  const texts = await Promise.all(names.map((name) => readFile(join(folder, name), "utf8")));
  if (texts.length > 0) return texts.map((text) => text.trim()).join("\n\n");
  const { license = "", author, name } = about;
  const standard = STANDARD[license]?.(nameOf(author) ?? `the authors of ${name}`);
  if (standard !== undefined) return standard;
  throw new Error(`${name} has no file with its licence, and "${license}" is not known.`);
};

/** Returns the licence texts of the packages that these files belong to, one after the other. */
export const collectLicenses = async (inputs: readonly string[]): Promise<string> => {
  const parts = await Promise.all(
    listPackageFolders(inputs).map(async (folder) => {
      const path = join(ROOT, folder);
      const about = JSON.parse(await readFile(join(path, "package.json"), "utf8")) as About;
      const title = `${about.name} ${about.version} (${about.license ?? "see below"})`;
      return `${title}\n${"-".repeat(title.length)}\n\n${await readTerms(path, about)}\n`;
    }),
  );
  return `This program contains code of the following packages, under their licences.\n\n${parts.join("\n\n")}`;
};
