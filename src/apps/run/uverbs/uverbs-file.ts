import { Errno } from '../../../device/ibta/index.js';
import type { NotifiedCalls } from '../../../machine/system/index.js';
import type { GuestDevice } from '../guest-device.js';
import type { GuestFile } from '../processes/guest-files.js';
import { readProgram } from '../processes/program-memory.js';
import type { DeviceNumber } from '../sysfs/tree.js';
import { GuestContext } from './guest-context.js';
import { answerIoctl } from './ioctl.js';
import { Structs } from './structs.js';

/** What the launcher does for an opened device. */
export interface UverbsHooks {
  /** Has the NICs take turns until there is nothing more to do. */
  onPosted(): void;
  onClosed(file: UverbsFile): void;
}

/** `/dev/infiniband/uverbsN` as a program has it open: commands come by `ioctl`, doorbells by `write`. */
export class UverbsFile implements GuestFile {
  readonly context: GuestContext;

  /** @throws what says that there can be no more: VerbsError, SystemCallError */
  constructor(
    guest: GuestDevice,
    readonly device: DeviceNumber,
    readonly pid: number,
    private readonly hooks: UverbsHooks,
  ) {
    this.context = new GuestContext(guest, pid);
  }

  get name(): string {
    return this.context.name;
  }

  get fd(): number {
    return this.context.fd;
  }

  ioctl(calls: NotifiedCalls): void {
    answerIoctl(this.context, calls);
  }

  /** A doorbell that waits for its answer: the program goes on when the NIC has done what it can. */
  write(calls: NotifiedCalls): void {
    const { request } = Structs.DOORBELL;
    if (calls.address(2) !== request.bytes) {
      calls.refuse(Errno.EINVAL);
      return;
    }
    const bytes = readProgram(calls.tid, calls.address(1), request.bytes);
    if (bytes === undefined) {
      calls.refuse(Errno.EFAULT);
      return;
    }
    this.context.ring(request.read(bytes).handle);
    this.hooks.onPosted();
    calls.answer(request.bytes);
  }

  close(): void {
    this.hooks.onClosed(this);
    this.context.close();
  }
}
