import type { ComponentChildren } from "preact";
import { useEffect, useId, useRef } from "preact/hooks";

type DialogProps = {
  title: string;
  confirm: string;
  /** Whether the confirming button can be used. */
  isReady?: boolean;
  children: ComponentChildren;
  onConfirm: () => void;
  onClose: () => void;
};

/**
 * A modal dialog; Escape and the first button close it. It has no form, because hosts may forbid forms in their
 * sandbox.
 */
export const Dialog = ({
  title,
  confirm,
  isReady = true,
  children,
  onConfirm,
  onClose,
}: DialogProps) => {
  const element = useRef<HTMLDialogElement>(null);
  const label = useId();
  useEffect(() => {
    const opener = document.activeElement;
    element.current?.showModal();
    return () => {
      if (opener instanceof HTMLElement) opener.focus();
    };
  }, []);
  return (
    <dialog ref={element} aria-labelledby={label} onClose={onClose}>
      <h2 id={label}>{title}</h2>
      {children}
      <div class="actions">
        <button type="button" onClick={onClose}>
          Cancel
        </button>
        <button type="button" class="primary" disabled={!isReady} onClick={onConfirm}>
          {confirm}
        </button>
      </div>
    </dialog>
  );
};
