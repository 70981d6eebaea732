import type { ComponentChildren } from "preact";

type ButtonProps = {
  /** Whether it does nothing at the moment, for instance while a change is being made. */
  isOff: boolean;
  onClick: () => void;
  children: ComponentChildren;
};

/** A button that keeps the focus while it is off: a browser takes it from one that is disabled. */
export const Button = ({ isOff, onClick, children }: ButtonProps) => (
  <button
    type="button"
    aria-disabled={isOff}
    onClick={() => {
      if (!isOff) onClick();
    }}
  >
    {children}
  </button>
);
