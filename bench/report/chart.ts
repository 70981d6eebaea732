/** A bar: its length in the group's unit, and its figure in words. */
export type Bar = { label: string; value: number; text: string; isOurs: boolean };

/** Bars of one scale; `mark` is a value that a line shows. */
export type Group = { title: string; bars: readonly Bar[]; mark?: number };

const ROW = 24;
/** Greatest average width of a label's characters. */
const CHARACTER = 7.2;
/** Width of the longest bar. */
const ROOM = 460;
/** Width of the figure after it. */
const RIGHT = 130;
const STYLE = `text{font:13px system-ui,sans-serif;fill:#1f2328}.g{font-weight:600}.t{fill:#59636e}.o{fill:#0969da}.p{fill:#8c959f}.m{stroke:#cf222e}
@media(prefers-color-scheme:dark){text{fill:#f0f6fc}.t{fill:#9198a1}.o{fill:#4493f8}.p{fill:#656c76}.m{stroke:#f85149}}`;

const escapeXml = (text: string): string =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");

const paintGroup = ({ title, bars, mark = 0 }: Group, left: number, top: number): string => {
  const most = Math.max(mark, ...bars.map(({ value }) => value)) || 1;
  const place = (value: number): string => (left + (value / most) * ROOM).toFixed(1);
  const lines = bars.map(({ label, value, text, isOurs }, index) => {
    const y = top + 30 + index * ROW;
    const width = Math.max(2, (value / most) * ROOM).toFixed(1);
    return `<text x="8" y="${y + 12}">${escapeXml(label)}</text>
<rect class="${isOurs ? "o" : "p"}" x="${left}" y="${y}" width="${width}" height="15" rx="3"/>
<text class="t" x="${Number(place(Math.max(value, mark))) + 8}" y="${y + 12}">${escapeXml(text)}</text>`;
  });
  const [begin, end] = [top + 26, top + 30 + bars.length * ROW];
  const line =
    mark === 0
      ? []
      : [`<line class="m" x1="${place(mark)}" x2="${place(mark)}" y1="${begin}" y2="${end}"/>`];
  const heading = `<text class="g" x="8" y="${top + 16}">${escapeXml(title)}</text>`;
  return [heading, ...lines, ...line].join("\n");
};

/** Returns horizontal bars as SVG, readable on light and dark pages. */
export const paintBars = (description: string, groups: readonly Group[]): string => {
  const labels = groups.flatMap(({ bars }) => bars.map(({ label }) => label.length));
  const left = Math.ceil(24 + Math.max(0, ...labels) * CHARACTER);
  let top = 0;
  const painted = groups.map((group) => {
    const text = paintGroup(group, left, top);
    top += 44 + group.bars.length * ROW;
    return text;
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${left + ROOM + RIGHT} ${top}" role="img">
<title>${escapeXml(description)}</title>
<style>${STYLE}</style>
${painted.join("\n")}
</svg>
`;
};
