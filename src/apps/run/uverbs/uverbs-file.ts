import { Errno } from '../../../device/ibta/index.js';
import type { Calls } from '../notifications/calls.js';
import type { GuestDevice } from '../guest-device.js';
import type { GuestFile } from '../processes/guest-files.js';
import { readProgram } from '../processes/program-memory.js';
import { descriptorsOf } from '../processes/processes.js';
import type { FailureReport } from '../reports/failure-report.js';
import type { DeviceNode, DeviceNumber } from '../sysfs/tree.js';
import { GuestContext } from './guest-context.js';
import { answerIoctl } from './ioctl.js';
import { Structs } from './structs.js';

/** What it is opened with. */
interface UverbsOpening {
  readonly node: DeviceNode;
  readonly pid: number;
  readonly devices: readonly GuestDevice[];
  readonly failures: FailureReport | undefined;
  readonly onPosted: () => void;
}

/** `/dev/infiniband/uverbsN` as a program has it open: commands come by `ioctl`, doorbells by `write`. */
export class UverbsFile implements GuestFile {
  readonly device: DeviceNumber;
  readonly pid: number;
  readonly #context: GuestContext;
  readonly #onPosted: () => void;

  /** @throws what says that there can be no more: VerbsError, SystemCallError */
  constructor({ node, pid, devices, failures, onPosted }: UverbsOpening) {
    this.device = { major: node.major, minor: node.minor };
    this.pid = pid;
    this.#context = new GuestContext(devices[node.index], pid, failures);
    this.#onPosted = onPosted;
  }

  get needsLook(): boolean {
    return this.#context.needsLook;
  }

  get name(): string {
    return this.#context.name;
  }

  get fd(): number {
    return this.#context.fd;
  }

  ioctl(calls: Calls): void {
    answerIoctl(this.#context, calls);
  }

  /** A doorbell that waits for its answer: the program goes on when the NIC has done what it can. */
  write(calls: Calls): void {
    const { request } = Structs.DOORBELL;
    if (calls.address(2) !== request.bytes) {
      calls.refuse(Errno.EINVAL);
      return;
    }
    // Whose doorbell it is has to be read from the program's memory, which takes longer than to look who has posted.
    const errno = this.#context.ringPosted() ? undefined : this.#ringNamed(calls);
    if (errno !== undefined) {
      calls.refuse(errno);
      return;
    }
    this.#onPosted();
    calls.answer(request.bytes);
  }

  /** Rings for the queue pair that the doorbell names. @returns what is wrong with it */
  #ringNamed(calls: Calls): number | undefined {
    const { request } = Structs.DOORBELL;
    const bytes = readProgram(calls.tid, calls.address(1), request.bytes);
    if (bytes === undefined) return Errno.EFAULT;
    return this.#context.ring(request.read(bytes).handle) ? undefined : Errno.EINVAL;
  }

  pull(): boolean {
    return this.#context.pull();
  }

  push(): boolean {
    return this.#context.push();
  }

  sweep(): void {
    this.#context.sweepChannels((name) => descriptorsOf(this.pid, name).length > 0);
  }

  executing(): void {
    this.#context.executing();
  }

  close(): void {
    this.#context.close();
  }
}
