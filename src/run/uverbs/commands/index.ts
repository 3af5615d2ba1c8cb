import type { Command } from '../command.js';
import { addressHandleCommands } from './address-handles.js';
import { completionCommands } from './completions.js';
import { deviceCommands } from './device.js';
import { memoryCommands } from './memory.js';
import { queuePairCommands } from './queue-pairs.js';
import { sharedReceiveQueueCommands } from './shared-receive-queues.js';

/**
 * Every command of the write ABI that there is. The others (XRC domains, work queues, flows) rxe's provider does not send, and
 * programs learn that they are not supported.
 */
export const COMMANDS: readonly Command[] = [
  ...deviceCommands,
  ...memoryCommands,
  ...completionCommands,
  ...queuePairCommands,
  ...sharedReceiveQueueCommands,
  ...addressHandleCommands,
];

function key(number: number, extended: boolean): string {
  return `${extended ? 'ex ' : ''}${number}`;
}

const byNumber = new Map(COMMANDS.map((command) => [key(command.number, command.extended), command]));

export function findCommand(number: number, extended: boolean): Command | undefined {
  return byNumber.get(key(number, extended));
}
