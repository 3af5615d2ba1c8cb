import { toldIfSilent } from '../../rdmacm/common/silence.js';
import { ToolError } from '../../kit/errors.js';
import type { Control, Said } from './control.js';

/** It waits for more of what it understands. */
const OTHER_TOOL = "if UCX's own ucx_perftest listens there, end this side by Ctrl-C: it is no peer of this one";

/** What a server says first, where it is one of these. */
export function heardFirst(control: Control): Promise<Said> {
  return toldIfSilent(control.hear(), OTHER_TOOL);
}

/** @throws ToolError where the other side has not said it */
export function textOf(said: Said, name: string): string {
  const value = said[name];
  if (typeof value !== 'string') throw new ToolError(`The other side has not said its ${name}.`);
  return value;
}
