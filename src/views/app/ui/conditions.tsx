export type Condition = { name: string; text: string };

/** Conditions that came with the call and have no control of their own; each can be removed. */
export const Conditions = ({
  conditions,
  remove,
}: {
  conditions: readonly Condition[];
  remove: (name: string) => void;
}) =>
  conditions.length === 0 ? null : (
    <ul class="chips" aria-label="Further conditions">
      {conditions.map(({ name, text }) => (
        <li key={name}>
          {text}
          <button type="button" aria-label={`Remove ${text}`} onClick={() => remove(name)}>
            ×
          </button>
        </li>
      ))}
    </ul>
  );
