/** What a gateway can be asked, as a table. */
import { CONNECTION } from './connection.js';
import { type Command } from './command.js';
import { EXPIRY } from './expiry.js';
import { KEYS } from './keys.js';
import { SERVER } from './server.js';
import { STRINGS } from './strings.js';

export {
  type Caller,
  type Command,
  CommandError,
  fitsArity,
  type GatewayFacts,
  type GatewayTotals,
  keysOf,
} from './command.js';
export { shown, wordOf } from './arguments.js';

export const COMMANDS: ReadonlyMap<string, Command> = new Map(
  [...STRINGS, ...KEYS, ...EXPIRY, ...CONNECTION, ...SERVER(() => COMMANDS)].map((command) => [
    command.name.toUpperCase(),
    command,
  ]),
);
