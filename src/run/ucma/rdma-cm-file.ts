import { VerbsError } from '../../api/verbs/index.js';
import { Errno } from '../../device/ibta/index.js';
import { type CallId, RecordPair } from '../../node/system/index.js';
import { BlockedCalls, type Calls } from '../notifications/blocked-calls.js';
import { UndeliveredReplies } from '../notifications/undelivered-replies.js';
import type { GuestFile } from '../processes/guest-files.js';
import { descriptorName } from '../processes/processes.js';
import { canWriteProgram, readProgram, writeProgram } from '../processes/program-memory.js';
import { hasPendingSignal, isTraced } from '../processes/thread-status.js';
import type { FailureReport } from '../reports/failure-report.js';
import type { DeviceNode, DeviceNumber } from '../sysfs/tree.js';
import { execute, isGetEvent, type Outcome } from './execute.js';
import type { EndedObject } from '../uverbs/guest-objects.js';
import type { Ucma } from './ucma.js';
import type { UcmaFile } from './ucma-file.js';

export interface RdmaCmOpening {
  readonly node: DeviceNode;
  readonly pid: number;
  readonly ucma: Ucma;
  /** Who tells of requests that failed, if anybody does. */
  readonly failures?: FailureReport | undefined;
  readonly calls: Calls;
  /** What a thread of a program knows by a descriptor. */
  readonly fileAt: (tid: number, fd: number) => GuestFile | undefined;
  /** Has {@link RdmaCmFile.push} called in the next round, and until it needs no look. */
  readonly due: (file: RdmaCmFile) => void;
}

/** The kernel's ERESTARTSYS: it runs the handler, and then restarts the call or returns EINTR, as SA_RESTART says. */
const ERESTARTSYS = 512;

/** A call that waits for an event, of a thread that a debugger traces. */
interface Held {
  readonly id: CallId;
  readonly tid: number;
  readonly message: Buffer;
}

/** All records are alike: the program never reads them, and asks for events by a command. */
const TOKEN = new Uint8Array(1);

/**
 * `/dev/infiniband/rdma_cm` as a program has it open: commands come by `write`. The file is an end of a socket, which is readable
 * while there is a record in it: one for each event that waits, as far as there is room.
 */
export class RdmaCmFile implements GuestFile {
  /** A round has nothing to do for most files: those that it has ask for it. */
  readonly isVisitedAlways = false;
  readonly name: string;
  readonly device: DeviceNumber;
  readonly pid: number;
  readonly #calls: Calls;
  readonly #ucma: Ucma;
  readonly #due: (file: RdmaCmFile) => void;
  readonly #tokens = new RecordPair(TOKEN.length);
  readonly #file: UcmaFile;
  readonly #blocked = new BlockedCalls();
  readonly #held: Held[] = [];
  readonly #undelivered = new UndeliveredReplies<Outcome>();
  /** Events for whose records there was no room. */
  #owed = 0;
  #open = true;
  /** The thread whose command is carried out. */
  #tid = 0;

  /** @throws SystemCallError when no descriptor is left */
  constructor({ node, pid, ucma, calls, failures, fileAt, due }: RdmaCmOpening) {
    this.device = { major: node.major, minor: node.minor };
    this.pid = pid;
    failures?.meet(pid);
    this.#calls = calls;
    this.#ucma = ucma;
    this.#due = due;
    this.name = descriptorName(process.pid, this.#tokens.farFd) ?? '';
    try {
      this.#file = ucma.open({
        announce: () => this.#announce(),
        retract: () => this.#retract(),
        news: () => due(this),
        tell: failures === undefined ? undefined : (what, why) => failures.tell(pid, what, why),
        readMemory: (address, lengthBytes) => this.#read(address, lengthBytes),
        canWriteMemory: (address, lengthBytes) => canWriteProgram(this.#tid, Number(address), lengthBytes),
        fileAt: (fd) => {
          const file = fileAt(this.#tid, fd);
          return file instanceof RdmaCmFile ? file.#file : undefined;
        },
      });
    } catch (error) {
      this.#tokens.close();
      throw error;
    }
  }

  /** Identifiers that were destroyed before their events were acknowledged. */
  get ended(): readonly EndedObject[] {
    return this.#file.ended;
  }

  /** What its identifiers wait for, a clause each. */
  describe(): string[] {
    return this.#file.describe();
  }

  get fd(): number {
    return this.#tokens.farFd;
  }

  /** Nobody reports that a thread blocks in the kernel, or that a signal is pending. */
  get needsLook(): boolean {
    if (this.#held.length > 0 || this.#blocked.isUnfinished) return true;
    return !this.#blocked.isEmpty && this.#file.hasEvents;
  }

  ioctl(calls: Calls): void {
    calls.letThrough();
  }

  mayBlock(tid: number, address: number, lengthBytes: number): boolean {
    const message = readProgram(tid, address, lengthBytes);
    if (message === undefined || !isGetEvent(Buffer.from(message))) return false;
    return !this.#file.hasEvents && !this.#tokens.farIsNonBlocking;
  }

  write(calls: Calls): void {
    const { tid } = calls;
    const message = readProgram(tid, calls.address(1), calls.address(2));
    if (message === undefined) calls.refuse(Errno.EFAULT);
    else this.#carryOut({ id: calls.id, tid, message: Buffer.from(message) }, (call) => this.#block(calls, call));
  }

  pull(): boolean {
    return false;
  }

  /** Takes the news of the devices, and answers those that wait for them. @returns whether there was anything */
  push(): boolean {
    const found = this.#file.poll();
    while (this.#file.hasEvents) {
      const held = this.#held.shift();
      if (held === undefined) break;
      if (this.#calls.isWaiting(held.id)) this.#carryOut(held, (call) => void this.#held.push(call));
    }
    if (this.#held.length > 0) this.#interruptHeld();
    if (this.#file.hasEvents) this.#blocked.wake();
    else this.#blocked.finish();
    return found;
  }

  close(): void {
    if (!this.#open) return;
    this.#open = false;
    this.#file.close();
    if (this.#blocked.isEmpty) this.#tokens.close();
    else this.#ucma.closeLater(this.#tokens);
  }

  #carryOut(call: Held, wait: (call: Held) => void): void {
    const calls = this.#calls;
    const { id, tid, message } = call;
    this.#tid = tid;
    const outcome = this.#undelivered.take(tid, () => message) ?? execute(this.#file, message);
    if (outcome.kind === 'failed') {
      calls.refuse(outcome.errno, id);
    } else if (outcome.kind === 'not yet') {
      if (this.#tokens.farIsNonBlocking) calls.refuse(Errno.EAGAIN, id);
      else wait(call);
    } else {
      const { response } = outcome;
      const told = response === undefined || writeProgram(tid, Number(response.address), response.bytes);
      if (!told) calls.refuse(Errno.EFAULT, id);
      if (told && calls.answer(message.length, id)) return;
      // A signal may have taken the call back: the program will make it again.
      if (outcome.undo !== undefined) outcome.undo();
      else if (told) this.#undelivered.keep(tid, message, outcome);
    }
  }

  #block(calls: Calls, call: Held): void {
    // A thread has one tracer: we could not wake it.
    if (isTraced(call.tid)) {
      this.#held.push(call);
      this.#due(this);
      return;
    }
    this.#tokens.blockFar();
    this.#blocked.block(calls);
  }

  #interruptHeld(): void {
    const left = this.#held.filter(({ id, tid }) => {
      if (!this.#calls.isWaiting(id)) return false;
      return !hasPendingSignal(tid) || !this.#calls.refuse(ERESTARTSYS, id);
    });
    this.#held.splice(0, this.#held.length, ...left);
  }

  #announce(): void {
    if (!this.#blocked.isEmpty || this.#held.length > 0) this.#due(this);
    if (this.#owed > 0 || !this.#tokens.send(TOKEN)) this.#owed += 1;
  }

  #retract(): void {
    if (this.#owed > 0) this.#owed -= 1;
    else this.#tokens.takeBack();
  }

  #read(address: bigint, lengthBytes: number): Buffer {
    const bytes = readProgram(this.#tid, Number(address), lengthBytes);
    if (bytes === undefined)
      throw new VerbsError('rdma_set_option', { errno: 'EFAULT', message: 'the value is not there', advice: '' });
    return Buffer.from(bytes);
  }
}
