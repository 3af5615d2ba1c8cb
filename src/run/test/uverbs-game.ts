import { GuestContext } from '../uverbs/guest-context.js';
import { answerIoctl } from '../uverbs/ioctl.js';
import { Structs } from '../uverbs/structs.js';
import { openDevice } from '../../entry/index.js';
import { SimulatedCluster } from '../../entry/sim.js';
import { Choices } from '../../../test/fuzz/random.js';
import { FakeCalls } from './fuzz/fake-calls.js';
import { FuzzMemory } from './fuzz/memory.js';
import { type UverbsCommand, writeFrame } from './fuzz/uverbs-frame.js';

/** No lie, ever. */
class Honest extends Choices {
  override chance(percent: number): boolean {
    return percent > 90;
  }
}

/** What a command came to: 0 or an errno, and the answers. */
export interface Given {
  readonly errno: number;
  readonly answer: Uint8Array;
  readonly driver: Uint8Array;
}

/** This process as a program that gives commands to a device that it has opened, on a simulated NIC. */
export function uverbsGame() {
  const context = new SimulatedCluster({ seed: 1 }).open('10.0.0.1');
  const openClient = () => openDevice({ device: context.share() });
  const device = { name: 'rxe0', address: '10.0.0.1', interfaceName: 'lo', context, openClient };
  const [calls, memory, choices] = [new FakeCalls(), new FuzzMemory(), new Honest(1)];
  const files: GuestContext[] = [];
  /** Opens the device once more. */
  const open = () => {
    const file = new GuestContext(device, process.pid, undefined);
    files.push(file);
    const give = (command: UverbsCommand): Given => {
      const frame = writeFrame(memory, command, choices);
      const ending = calls.make([0, 0, frame.at], (waiting) => answerIoctl(file, waiting));
      if (typeof ending !== 'number') throw new Error(`command ${command.number} ended so: ${ending}`);
      return { errno: -ending | 0, answer: Uint8Array.from(frame.answer), driver: Uint8Array.from(frame.driver) };
    };
    const make = (command: UverbsCommand): number => {
      const { errno, answer } = give(command);
      if (errno !== 0) throw new Error(`command ${command.number} was refused: ${errno}`);
      return Structs.HANDLE.readPadded(answer).handle;
    };
    return { file, give, make };
  };
  return {
    ...open(),
    open,
    calls,
    memory,
    context,
    [Symbol.dispose]: () => {
      calls.closeAll();
      for (const file of files) file.close();
      context.close();
      memory.release();
    },
  };
}
