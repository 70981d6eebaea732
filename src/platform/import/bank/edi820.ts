import { describePlace, readElement } from "./edi820-remittance.ts";
import { Edi820Set, type Interchange } from "./edi820-set.ts";
import type { BankItem } from "./entry.ts";
import { createMalformed, type ReadBankFile, type Warn } from "./file.ts";
import { type Segment, X12Reader } from "./x12.ts";
import { describeSet } from "./x12-sets.ts";

// Segment layouts: ASC X12 transaction set 820, versions 003010 (BPS, RMT) to 007030 (BPR, TRN, RMR, ADX).
const ENVELOPE: ReadonlySet<string> = new Set(["ISA", "GS", "ST", "GE", "IEA"]);

const isSame = (one: string, other: string): boolean =>
  one === other || one.replace(/^0+/, "") === other.replace(/^0+/, "");

/** A group of sets, or an interchange of groups, of which the trailer has control number and count. */
type Level = { control: string; parts: number };

/** Reads interchanges, groups and transaction sets, and checks their control numbers and counts. */
class Edi820Reader {
  readonly #warn: Warn;
  #interchange: Level = { control: "", parts: 0 };
  #group: Level | undefined;
  #facts: Interchange = { sender: "", identity: [] };
  #groupControl = "";
  #set: Edi820Set | undefined;
  #foreign: { type: string; number: number } | undefined;
  #first820 = false;
  #firstForeign: { type: string; number: number } | undefined;

  constructor(warn: Warn) {
    this.#warn = warn;
  }

  segment(segment: Segment): BankItem[] {
    const name = readElement(segment, 0);
    if (this.#foreign !== undefined) {
      if (name === "SE") this.#foreign = undefined;
      else if (ENVELOPE.has(name)) this.#refuseOpenSet(segment, name);
      return [];
    }
    if (this.#set === undefined) return this.#outside(name, segment);
    if (name === "SE") return [this.#closeSet(segment, this.#set)];
    if (ENVELOPE.has(name)) this.#refuseOpenSet(segment, name);
    this.#set.segment(segment);
    return [];
  }

  end(): void {
    if (this.#first820 || this.#firstForeign === undefined) return;
    const { type, number } = this.#firstForeign;
    throw createMalformed(
      `segment ${number}`,
      `begins a transaction set ${describeSet(type)}, and the file has no 820`,
    );
  }

  #refuseOpenSet(segment: Segment, name: string): never {
    throw createMalformed(
      describePlace(segment),
      `is ${name}, but the transaction set has no SE yet`,
    );
  }

  #outside(name: string, segment: Segment): BankItem[] {
    if (name === "ST") return this.#openSet(segment);
    if (name === "ISA") this.#openInterchange(segment);
    else if (name === "GS") this.#openGroup(segment);
    else if (name === "GE") this.#closeGroup(segment);
    else if (name === "IEA") this.#closeInterchange(segment);
    else if (name !== "TA1")
      throw createMalformed(describePlace(segment), "is outside a transaction set");
    return [];
  }

  #openInterchange(segment: Segment): void {
    const read = (place: number): string => readElement(segment, place);
    this.#interchange = { control: read(13), parts: 0 };
    this.#group = undefined;
    this.#groupControl = "";
    // ISA: 06 sender, 08 receiver, 09 date, 10 time, 13 control number, 15 usage (T is a test).
    this.#facts = { sender: read(6), identity: [6, 8, 9, 10, 13].map(read) };
    if (read(15) === "T")
      this.#warn(describePlace(segment), "begins a test interchange (ISA15 is T), which is loaded");
  }

  #openGroup(segment: Segment): void {
    this.#interchange.parts += 1;
    this.#groupControl = readElement(segment, 6);
    this.#group = { control: this.#groupControl, parts: 0 };
  }

  #openSet(segment: Segment): BankItem[] {
    if (this.#group !== undefined) this.#group.parts += 1;
    const type = readElement(segment, 1);
    if (type === "820") {
      this.#first820 = true;
      this.#set = new Edi820Set(segment);
      return [];
    }
    this.#foreign = { type, number: segment.number };
    this.#firstForeign ??= this.#foreign;
    const reason = `a transaction set ${describeSet(type)}, not an 820`;
    return [{ line: segment.number, leftOut: { type: `X12 ${type}`, reason } }];
  }

  /** X12 SE: 01 number of segments, ST and SE included, 02 control number of the ST. */
  #closeSet(segment: Segment, set: Edi820Set): BankItem {
    this.#set = undefined;
    const count = set.segments + 1;
    const [named, control] = [readElement(segment, 1), readElement(segment, 2)];
    if (control !== set.control) {
      throw createMalformed(
        describePlace(segment),
        `ends the set ${control}, but the set ${set.control} is open`,
      );
    }
    if (Number(named) !== count)
      this.#warn(
        describePlace(segment),
        `names ${named} segments of set ${control}, but there are ${count}`,
      );
    const { sender, identity } = this.#facts;
    return set.close({ sender, identity: [...identity, this.#groupControl] });
  }

  #checkTrailer(segment: Segment, level: Level, noun: string): void {
    const [named, control] = [readElement(segment, 1), readElement(segment, 2)];
    if (!isSame(control, level.control)) {
      throw createMalformed(
        describePlace(segment),
        `has the control number ${control}, but ${level.control} is open`,
      );
    }
    if (Number(named) === level.parts) return;
    throw createMalformed(
      describePlace(segment),
      `names ${named} ${noun}, but there are ${level.parts}`,
    );
  }

  /** X12 GE: 01 number of sets, 02 control number of the GS. A wrong number means that a set is missing. */
  #closeGroup(segment: Segment): void {
    if (this.#group === undefined)
      throw createMalformed(describePlace(segment), "ends a group, but none is open");
    this.#checkTrailer(segment, this.#group, "transaction sets");
    this.#group = undefined;
  }

  /** X12 IEA: 01 number of groups, 02 control number of the ISA. */
  #closeInterchange(segment: Segment): void {
    if (this.#group !== undefined)
      throw createMalformed(describePlace(segment), "is IEA, but the group has no GE yet");
    this.#checkTrailer(segment, this.#interchange, "groups");
  }
}

/** Reads the payments of the 820 sets of an X12 file with their remittances. */
export const readEdi820: ReadBankFile = async function* readEdi820(bytes, warn) {
  const segments = new X12Reader(warn);
  const reader = new Edi820Reader(warn);
  const decoder = new TextDecoder();
  for await (const chunk of bytes) {
    const items: BankItem[] = [];
    for (const segment of segments.push(decoder.decode(chunk, { stream: true }))) {
      for (const item of reader.segment(segment)) items.push(item);
    }
    yield items;
  }
  const last = segments.end().flatMap((segment) => reader.segment(segment));
  reader.end();
  yield last;
};
