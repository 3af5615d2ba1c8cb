import type { Calls } from '../notifications/blocked-calls.js';
import type { GuestDevice } from '../launcher/guest-devices.js';
import type { GuestFile, OpenFiles } from '../processes/guest-files.js';
import type { FailureReport } from '../reports/failure-report.js';
import type { DeviceNode, DeviceNumber } from '../sysfs/tree.js';
import { answerDoorbell, type Turns } from './doorbell.js';
import { GuestContext } from './guest-context.js';
import { answerIoctl } from './ioctl.js';

interface UverbsOpening extends Turns {
  readonly node: DeviceNode;
  readonly pid: number;
  readonly devices: readonly GuestDevice[];
  readonly failures: FailureReport | undefined;
}

/** `/dev/infiniband/uverbsN` as a program has it open: commands come by `ioctl`, doorbells by `write`. */
export class UverbsFile implements GuestFile {
  readonly isVisitedAlways = true;
  readonly device: DeviceNumber;
  readonly pid: number;
  /** What the program has made by it. */
  readonly context: GuestContext;
  readonly #turns: Turns;

  /** @throws what says that there can be no more: VerbsError, SystemCallError */
  constructor(opening: UverbsOpening) {
    const { node, pid, devices, failures } = opening;
    this.device = { major: node.major, minor: node.minor };
    this.pid = pid;
    failures?.meet(pid);
    this.context = new GuestContext(
      devices[node.index],
      pid,
      failures,
      devices.map(({ context }) => context),
    );
    this.#turns = opening;
  }

  get needsLook(): boolean {
    return this.context.needsLook;
  }

  get name(): string {
    return this.context.name;
  }

  get fd(): number {
    return this.context.fd;
  }

  ioctl(calls: Calls): void {
    answerIoctl(this.context, calls);
  }

  write(calls: Calls): void {
    answerDoorbell(calls, this.context, this.#turns);
  }

  pull(): boolean {
    return this.context.pull();
  }

  push(): boolean {
    return this.context.push();
  }

  sweep(open: OpenFiles): void {
    this.context.sweepChannels((name) => open.has(this.pid, name));
  }

  executing(): void {
    this.context.executing();
  }

  close(): void {
    this.context.close();
  }
}
