/** Names that a script writes, and may write wrongly. */
import { fieldsProblem, nameAdvice, refuse } from '../api/verbs/index.js';

export { nameAdvice as adviceFor };

/** @throws VerbsError EINVAL for a field that does not exist: what it was to change would stay as it is */
export function checkFields(call: string, what: string, given: object, names: readonly string[]): void {
  refuse(call, fieldsProblem(what, given, Object.fromEntries(names.map((name) => [name, true]))));
}
