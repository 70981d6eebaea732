import { useEffect, useId, useRef, useState } from "preact/hooks";

type ChoiceProps<Value extends string> = {
  label: string;
  options: readonly { value: Value; text: string }[];
  value: Value;
  onChange: (value: Value) => void;
};

/** A labelled select box. */
export const Choice = <Value extends string>({
  label,
  options,
  value,
  onChange,
}: ChoiceProps<Value>) => {
  const id = useId();
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <select
        id={id}
        value={value}
        onChange={(event) => onChange(event.currentTarget.value as Value)}
      >
        {options.map((option) => (
          <option key={option.value} value={option.value} selected={option.value === value}>
            {option.text}
          </option>
        ))}
      </select>
    </div>
  );
};

type EntryProps = {
  label: string;
  value: string;
  type?: "date" | "search";
  placeholder?: string;
  /** Whether a part of the text is a useful value, so that the input is finished when the person pauses. */
  isLive?: boolean;
  /** Called when the input is finished: Enter was pressed, or the field was left. */
  onChange: (value: string) => void;
};

/** The pause in typing after which a search begins, in milliseconds. */
const PAUSE_MS = 400;

/** Holds the text of an input while a person types, and passes it on at the end. */
const useTyped = (value: string, isLive: boolean, onChange: (value: string) => void) => {
  const [typed, setTyped] = useState(value);
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  const stop = (): void => clearTimeout(timer.current);
  useEffect(() => setTyped(value), [value]);
  useEffect(() => stop, []);
  const finish = (text: string): void => {
    stop();
    if (text !== value) onChange(text);
  };
  const type = (text: string): void => {
    setTyped(text);
    stop();
    if (isLive) timer.current = setTimeout(() => finish(text), PAUSE_MS);
  };
  return { typed, type, finish };
};

/** A labelled input. */
export const Entry = ({
  label,
  value,
  type = "search",
  placeholder,
  isLive = false,
  onChange,
}: EntryProps) => {
  const id = useId();
  const { typed, type: change, finish } = useTyped(value, isLive, onChange);
  // The types of inputs are distinct to the compiler, though all of these have the same properties.
  const kind = { type } as { type: "search" };
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <input
        id={id}
        {...kind}
        value={typed}
        placeholder={placeholder ?? ""}
        autocomplete="off"
        onInput={(event) => change(event.currentTarget.value)}
        onChange={(event) => finish(event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key === "Enter") finish(event.currentTarget.value);
        }}
      />
    </div>
  );
};

/** Returns the currency of a chart, the first one until a person chooses another, and the tabs to choose by. */
export const useCurrency = (codes: readonly string[]) => {
  const [chosen, setChosen] = useState<string>();
  const currency = chosen !== undefined && codes.includes(chosen) ? chosen : (codes[0] ?? "");
  return { currency, tabs: <Currencies codes={codes} value={currency} onChange={setChosen} /> };
};

/** Tabs of currencies: amounts of different ones are never added up or compared in one chart. */
const Currencies = ({
  codes,
  value,
  onChange,
}: {
  codes: readonly string[];
  value: string;
  onChange: (code: string) => void;
}) =>
  codes.length < 2 ? null : (
    <fieldset class="segments">
      <legend class="hidden">Currency of the chart</legend>
      {codes.map((code) => (
        <button
          type="button"
          key={code}
          aria-pressed={code === value}
          onClick={() => onChange(code)}
        >
          {code || "None"}
        </button>
      ))}
    </fieldset>
  );
