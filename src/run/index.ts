/** `verbena run`: programs written in C, as they are, on our NICs. */
export { command } from './command.js';
