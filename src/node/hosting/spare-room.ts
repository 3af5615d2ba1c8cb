import { codeOf, errnoNameOf } from '../../device/link/index.js';
import { CommandError } from '../../device/nic/index.js';
import { requireDescriptors } from '../system/index.js';

/** What a thread opens before any code of ours runs in it, an event loop of its own and its file; sockets come after. */
const DESCRIPTORS = 8;

/**
 * Makes sure that a NIC finds enough file descriptors. What a thread lacks before our code runs in it, it tells the event loop
 * alone, which waits for the thread meanwhile.
 *
 * @throws CommandError EMFILE, ENFILE
 */
export function requireRoom(descriptors = DESCRIPTORS): void {
  try {
    requireDescriptors(descriptors);
  } catch (error) {
    const errno = errnoNameOf(codeOf(error));
    const who = errno === 'ENFILE' ? 'the machine' : 'the process';
    const message = `${who} has too few file descriptors left for a NIC; close some, or raise the limit (ulimit -n)`;
    throw new CommandError(errno, message);
  }
}
