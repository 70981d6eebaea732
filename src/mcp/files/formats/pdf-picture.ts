import { encode } from "jpeg-js";
import { type Picture, Unreadable } from "../port.ts";
import { memoryOf, type Pdfium, readFloat, readInteger, withMemory } from "./pdfium.ts";

/** Models see pictures with this many pixels on the longer side; more are scaled down by them. */
const LONGER_SIDE = 1568;
const SHORTEST_SIDE = 16;
/** One picture may have so many bytes; then it is made with less quality. */
const MAX_BYTES = 500_000;
const QUALITIES = [75, 55, 35, 15];

const IMAGE = 3;
const FORM = 5;
const MAX_DEPTH = 8;
const MAX_OBJECTS = 20_000;
/** Decoding takes a second or two for so many pixels. */
const MAX_PIXELS = 100_000_000;

const BGRA = 4;
const WHITE = 0xff_ff_ff_ff;
const WITH_ANNOTATIONS = 1;
const BYTES_PER_PIXEL = 4;

type Objects = { count: number; at(index: number): number };

const objectsOf = (pdfium: Pdfium, page: number): Objects => ({
  count: pdfium.FPDFPage_CountObjects(page),
  at: (index) => pdfium.FPDFPage_GetObject(page, index),
});

const objectsIn = (pdfium: Pdfium, form: number): Objects => ({
  count: pdfium.FPDFFormObj_CountObjects(form),
  at: (index) => pdfium.FPDFFormObj_GetObject(form, index),
});

const pixelsOf = (pdfium: Pdfium, image: number): number =>
  withMemory(pdfium, 8, (address) => {
    if (!pdfium.FPDFImageObj_GetImagePixelSize(image, address, address + 4)) return 0;
    return readInteger(pdfium, address) * readInteger(pdfium, address + 4);
  });

/** Visits the images of a page, with the object of the page in which each is. Returns whether it saw all of them. */
const visitImages = (
  pdfium: Pdfium,
  page: number,
  visit: (image: number, outer: number) => void,
): boolean => {
  let seen = 0;
  const walk = ({ count, at }: Objects, depth: number, outer?: number): void => {
    for (let index = 0; index < count && seen < MAX_OBJECTS; index += 1) {
      seen += 1;
      const object = at(index);
      const type = pdfium.FPDFPageObj_GetType(object);
      if (type === IMAGE) visit(object, outer ?? object);
      else if (type === FORM && depth < MAX_DEPTH) {
        walk(objectsIn(pdfium, object), depth + 1, outer ?? object);
      }
    }
  };
  walk(objectsOf(pdfium, page), 0);
  return seen < MAX_OBJECTS;
};

/** Adds up the pixels of the images on a page, which are decoded whole, however small they are drawn. */
const countPixels = (pdfium: Pdfium, page: number): number => {
  let pixels = 0;
  const isWhole = visitImages(pdfium, page, (image) => {
    pixels += pixelsOf(pdfium, image);
  });
  if (!isWhole) throw new Unreadable("it has too many parts.");
  return pixels;
};

const FLOAT_BYTES = 4;

/** The area of an object on its page, in square points. */
const areaOf = (pdfium: Pdfium, object: number): number =>
  withMemory(pdfium, 4 * FLOAT_BYTES, (address) => {
    const places = [0, 1, 2, 3].map((index) => address + index * FLOAT_BYTES) as Four;
    if (!pdfium.FPDFPageObj_GetBounds(object, ...places)) return 0;
    const [left, bottom, right, top] = places.map((place) => readFloat(pdfium, place)) as Four;
    return (right - left) * (top - bottom);
  });
type Four = [number, number, number, number];

/** Whether images cover half of a page or more, as a scan does. */
export const isScan = (pdfium: Pdfium, page: number): boolean => {
  const outer = new Set<number>();
  visitImages(pdfium, page, (_image, object) => outer.add(object));
  const covered = [...outer].reduce((area, object) => area + areaOf(pdfium, object), 0);
  return covered * 2 >= pdfium.FPDF_GetPageWidthF(page) * pdfium.FPDF_GetPageHeightF(page);
};

/** Whether nothing stands on a page. */
export const isBlank = (pdfium: Pdfium, page: number): boolean =>
  pdfium.FPDFPage_CountObjects(page) === 0 && pdfium.FPDFPage_GetAnnotCount(page) === 0;

type Size = { width: number; height: number };

const sizeOf = (pdfium: Pdfium, page: number): Size => {
  const [width, height] = [pdfium.FPDF_GetPageWidthF(page), pdfium.FPDF_GetPageHeightF(page)];
  const longer = Math.max(width, height);
  if (!(longer > 0 && Number.isFinite(longer))) throw new Unreadable("it has no size.");
  const toPixels = (side: number): number =>
    Math.max(SHORTEST_SIDE, Math.round((side / longer) * LONGER_SIDE));
  return { width: toPixels(width), height: toPixels(height) };
};

/** Draws a page. Returns its pixels as red, green, blue and opacity. */
const toPixels = (pdfium: Pdfium, page: number, { width, height }: Size): Buffer =>
  withMemory(pdfium, width * height * BYTES_PER_PIXEL, (address) => {
    const stride = width * BYTES_PER_PIXEL;
    const bitmap = pdfium.FPDFBitmap_CreateEx(width, height, BGRA, address, stride);
    if (bitmap === 0) throw new Unreadable("it is too large.");
    pdfium.FPDFBitmap_FillRect(bitmap, 0, 0, width, height, WHITE);
    pdfium.FPDF_RenderPageBitmap(bitmap, page, 0, 0, width, height, 0, WITH_ANNOTATIONS);
    const pixels = Buffer.from(memoryOf(pdfium).subarray(address, address + stride * height));
    pdfium.FPDFBitmap_Destroy(bitmap);
    // Blue, green, red to red, green, blue.
    for (let at = 0; at < pixels.length; at += BYTES_PER_PIXEL) {
      const blue = pixels[at] ?? 0;
      pixels[at] = pixels[at + 2] ?? 0;
      pixels[at + 2] = blue;
    }
    return pixels;
  });

/**
 * Draws a page as a picture.
 *
 * @throws {Unreadable}
 */
export const drawPage = (pdfium: Pdfium, page: number, number: number): Picture => {
  if (countPixels(pdfium, page) > MAX_PIXELS) throw new Unreadable("its images are too large.");
  const size = sizeOf(pdfium, page);
  const data = toPixels(pdfium, page, size);
  let picture = new Uint8Array();
  for (const quality of QUALITIES) {
    picture = new Uint8Array(encode({ data, ...size }, quality).data);
    if (picture.byteLength <= MAX_BYTES) break;
  }
  return { page: number, mimeType: "image/jpeg", data: picture };
};
