import { scaleBand, scaleLinear } from "d3-scale";
import { useEffect, useRef, useState } from "preact/hooks";

export type Bar = {
  key: string;
  label: string;
  /** A shorter label for the axis, if there is one. */
  tick?: string;
  value: number;
  /** The value with its unit. */
  text: string;
  /** More about the bar, such as a count. */
  detail: string;
  isSelected?: boolean;
};

type BarsProps = {
  title: string;
  bars: readonly Bar[];
  formatTick: (value: number) => string;
  onPick: (bar: Bar) => void;
};

const HEIGHT = 230;
const MARGIN = { top: 12, right: 4, bottom: 26, left: 68 };
const CHARACTER_WIDTH = 6.3;
const LABEL_GAP = 7;
const TICKS = 4;

const useWidth = () => {
  const element = useRef<HTMLDivElement>(null);
  const [width, setWidth] = useState(0);
  useEffect(() => {
    const observer = new ResizeObserver(([entry]) => setWidth(entry?.contentRect.width ?? 0));
    if (element.current) observer.observe(element.current);
    return () => observer.disconnect();
  }, []);
  return { element, width };
};

const STEPS: Record<string, (place: number, last: number) => number> = {
  ArrowRight: (place, last) => Math.min(place + 1, last),
  ArrowDown: (place, last) => Math.min(place + 1, last),
  ArrowLeft: (place) => Math.max(place - 1, 0),
  ArrowUp: (place) => Math.max(place - 1, 0),
  Home: () => 0,
  End: (_place, last) => last,
};

/** One stop of the Tab key for all bars; arrow keys, Home and End move between them, Enter and Space pick one. */
const useRoving = (bars: readonly Bar[], onPick: (bar: Bar) => void) => {
  const [current, setCurrent] = useState(0);
  const place = Math.min(current, Math.max(0, bars.length - 1));
  return (index: number, bar: Bar) => ({
    role: "button" as const,
    // In SVG, the name of this attribute is in lower case.
    tabindex: index === place ? 0 : -1,
    "aria-pressed": bar.isSelected === true,
    onClick: () => {
      setCurrent(index);
      onPick(bar);
    },
    onKeyDown: (event: KeyboardEvent) => {
      const next = STEPS[event.key]?.(index, bars.length - 1);
      const isPick = event.key === "Enter" || event.key === " ";
      if (next === undefined && !isPick) return;
      event.preventDefault();
      if (next === undefined) return onPick(bar);
      setCurrent(next);
      const all = (event.currentTarget as Element).parentElement?.querySelectorAll(
        '[role="button"]',
      );
      (all?.[next] as HTMLElement | SVGElement | undefined)?.focus();
    },
  });
};

type Plot = {
  x: (key: string) => number;
  band: number;
  y: (value: number) => number;
  ticks: number[];
  /** Every how many labels fit. */
  every: number;
};

const widest = (bars: readonly Bar[]): number =>
  Math.max(0, ...bars.map(({ tick, label }) => (tick ?? label).length)) * CHARACTER_WIDTH +
  LABEL_GAP;

const layOut = (bars: readonly Bar[], width: number): Plot => {
  const values = bars.map(({ value }) => value);
  const x = scaleBand()
    .domain(bars.map(({ key }) => key))
    .range([MARGIN.left, Math.max(width - MARGIN.right, MARGIN.left + 1)])
    .paddingInner(0.28)
    .paddingOuter(0.12);
  const y = scaleLinear()
    .domain([Math.min(0, ...values), Math.max(0, ...values) || 1])
    .nice(TICKS)
    .range([HEIGHT - MARGIN.bottom, MARGIN.top]);
  return {
    x: (key) => x(key) ?? 0,
    band: Math.min(x.bandwidth(), 96),
    y,
    ticks: y.ticks(TICKS),
    every: Math.ceil(widest(bars) / Math.max(1, x.step())),
  };
};

const describe = ({ label, text, detail }: Bar): string => `${label}: ${text}, ${detail}`;

type AxisProps = { plot: Plot; width: number; formatTick: BarsProps["formatTick"] };

const Axis = ({ plot: { y, ticks }, width, formatTick }: AxisProps) => (
  <g class="axis" aria-hidden="true">
    {ticks.map((tick) => (
      <g key={tick}>
        <line x1={MARGIN.left} x2={width - MARGIN.right} y1={y(tick)} y2={y(tick)} />
        <text x={MARGIN.left - 8} y={y(tick)} dy="0.32em" text-anchor="end">
          {formatTick(tick)}
        </text>
      </g>
    ))}
  </g>
);

/** A column chart; each column is a button. */
export const Columns = ({ title, bars, formatTick, onPick }: BarsProps) => {
  const { element, width } = useWidth();
  const buttonOf = useRoving(bars, onPick);
  const plot = layOut(bars, width);
  const { x, band, y, every } = plot;
  const step =
    bars.length > 1 ? x(bars[1]?.key ?? "") - x(bars[0]?.key ?? "") : width - MARGIN.left;
  const middle = (key: string): number => x(key) + step * 0.36;
  const column = (bar: Bar, index: number) => {
    const [top, bottom] = [y(Math.max(bar.value, 0)), y(Math.min(bar.value, 0))];
    const left = middle(bar.key);
    return (
      <g
        key={bar.key}
        class={bar.isSelected ? "bar selected" : "bar"}
        {...buttonOf(index, bar)}
        aria-label={describe(bar)}
      >
        <rect
          class="hit"
          x={x(bar.key)}
          y={MARGIN.top}
          width={step * 0.72}
          height={HEIGHT - MARGIN.top - MARGIN.bottom}
        />
        <rect
          class="mark"
          x={left - band / 2}
          y={top}
          width={band}
          height={bar.value === 0 ? 0 : Math.max(1, bottom - top)}
          rx={3}
        />
        {index % every === 0 && left + widest([bar]) / 2 <= width && (
          <text class="label" x={left} y={HEIGHT - 8} text-anchor="middle" aria-hidden="true">
            {bar.tick ?? bar.label}
          </text>
        )}
        <title>{describe(bar)}</title>
      </g>
    );
  };
  return (
    <div class="chart" ref={element}>
      {width > 0 && (
        <svg width={width} height={HEIGHT} role="group" aria-label={title}>
          <Axis plot={plot} width={width} formatTick={formatTick} />
          <g>{bars.map(column)}</g>
        </svg>
      )}
    </div>
  );
};

/** A chart of horizontal bars for names; each row is a button. */
export const Rows = ({ title, bars, onPick }: Omit<BarsProps, "formatTick">) => {
  const buttonOf = useRoving(bars, onPick);
  const most = Math.max(...bars.map(({ value }) => Math.abs(value))) || 1;
  return (
    <div class="rows" role="group" aria-label={title}>
      {bars.map((bar, index) => (
        <div
          key={bar.key}
          class={bar.isSelected ? "bar selected" : "bar"}
          {...buttonOf(index, bar)}
        >
          <span class="label">{bar.label}</span>
          <span class="track">
            <span
              class={bar.value < 0 ? "mark negative" : "mark"}
              style={{ width: `${(100 * Math.abs(bar.value)) / most}%` }}
            />
          </span>
          <span class="figure">
            {bar.text}
            <span class="hidden">, {bar.detail}</span>
          </span>
        </div>
      ))}
    </div>
  );
};
