import { VerbsError } from '../../../api/verbs/index.js';
import { Errno } from '../../../device/ibta/index.js';
import { type CallId, RecordPair } from '../../../machine/system/index.js';
import type { Calls } from '../notifications/calls.js';
import { Untold } from '../notifications/untold.js';
import type { GuestFile } from '../processes/guest-files.js';
import { descriptorName } from '../processes/processes.js';
import { readProgram, writeProgram } from '../processes/program-memory.js';
import type { DeviceNode, DeviceNumber } from '../sysfs/tree.js';
import { execute, type Outcome } from './execute.js';
import type { Ucma } from './ucma.js';
import type { UcmaFile } from './ucma-file.js';

/** What it is opened with. */
export interface RdmaCmOpening {
  readonly node: DeviceNode;
  readonly pid: number;
  readonly ucma: Ucma;
  /** By which calls that waited are answered. */
  readonly calls: Calls;
  /** What a thread of a program knows by a descriptor. */
  readonly fileAt: (tid: number, fd: number) => GuestFile | undefined;
}

/** A call that waits for an event. */
interface Blocked {
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
  readonly name: string;
  readonly device: DeviceNumber;
  readonly pid: number;
  /** Devices tell of their events by themselves. */
  readonly needsLook = false;
  readonly #calls: Calls;
  readonly #tokens = new RecordPair(TOKEN.length);
  readonly #file: UcmaFile;
  readonly #blocked: Blocked[] = [];
  readonly #untold = new Untold<Outcome>();
  /** Events for whose records there was no room. */
  #owed = 0;
  /** The thread whose command is carried out. */
  #tid = 0;

  /** @throws SystemCallError when no descriptor is left */
  constructor({ node, pid, ucma, calls, fileAt }: RdmaCmOpening) {
    this.device = { major: node.major, minor: node.minor };
    this.pid = pid;
    this.#calls = calls;
    this.name = descriptorName(process.pid, this.#tokens.farFd) ?? '';
    this.#file = ucma.open({
      announce: () => this.#announce(),
      retract: () => this.#retract(),
      readMemory: (address, lengthBytes) => this.#read(address, lengthBytes),
      fileAt: (fd) => {
        const file = fileAt(this.#tid, fd);
        return file instanceof RdmaCmFile ? file.#file : undefined;
      },
    });
  }

  get fd(): number {
    return this.#tokens.farFd;
  }

  ioctl(calls: Calls): void {
    calls.letThrough();
  }

  write(calls: Calls): void {
    const { tid } = calls;
    const message = readProgram(tid, calls.address(1), calls.address(2));
    if (message === undefined) calls.refuse(Errno.EFAULT);
    else this.#carryOut({ id: calls.id, tid, message: Buffer.from(message) });
  }

  /** Everything is posted by commands. */
  pull(): boolean {
    return false;
  }

  /** Takes the news of the devices, and answers those that wait for them. @returns whether there was anything */
  push(): boolean {
    const found = this.#file.poll();
    while (this.#file.hasEvents) {
      const blocked = this.#blocked.shift();
      if (blocked === undefined) break;
      if (this.#calls.isWaiting(blocked.id)) this.#carryOut(blocked);
    }
    return found;
  }

  close(): void {
    this.#file.close();
    this.#tokens.close();
  }

  #carryOut(call: Blocked): void {
    const calls = this.#calls;
    const { id, tid, message } = call;
    this.#tid = tid;
    const outcome = this.#untold.take(tid, () => message) ?? execute(this.#file, message);
    if (outcome.kind === 'failed') {
      calls.refuse(outcome.errno, id);
    } else if (outcome.kind === 'not yet') {
      if (this.#tokens.farIsNonBlocking) calls.refuse(Errno.EAGAIN, id);
      else this.#block(call);
    } else {
      const { response } = outcome;
      const told = response === undefined || writeProgram(tid, Number(response.address), response.bytes);
      if (!told) calls.refuse(Errno.EFAULT, id);
      if (told && calls.answer(message.length, id)) return;
      // A signal may have taken the call back: the program will make it again.
      if (outcome.undo !== undefined) outcome.undo();
      else if (told) this.#untold.keep(tid, message, outcome);
    }
  }

  /** A call that a signal has taken back comes again, and what it named may be something else by then. */
  #block(call: Blocked): void {
    const waiting = this.#blocked.filter(({ id }) => this.#calls.isWaiting(id));
    this.#blocked.splice(0, this.#blocked.length, ...waiting, call);
  }

  #announce(): void {
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
