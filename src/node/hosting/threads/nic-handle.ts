import { MessagePort, receiveMessageOnPort, threadId, type Worker } from 'node:worker_threads';
import type { SharedDevice } from '../../../api/verbs/index.js';
import { CommandError } from '../../../device/nic/index.js';
import { EventFd, nativeHost } from '../../system/index.js';
import { closeAtExit } from '../exit-hook.js';
import type { AdapterSpec } from '../native-adapter.js';
import { startThread } from './thread-start.js';
import { type ClientStart, ThreadState, ThreadWords } from './thread-protocol.js';

const STOP_TIMEOUT_MS = 5_000;

/** A NIC's thread, as a driver comes to have a client there. */
export interface NicHandle {
  /** `ThreadWords`. */
  readonly state: Int32Array;
  /**
   * Whether the thread that asks has started the NIC's, which then ends before its memory goes. Others may be gone at any moment,
   * so they can register shared memory alone.
   */
  readonly isOwn: boolean;
  readonly owner: number;
  /** Number of the eventfd by which the thread is woken, once it is known. */
  wakeFd: number | undefined;
  /** Has the NIC's thread take a client, which it answers. @throws CommandError when it cannot be asked */
  admit(start: ClientStart, onEnd: (why: string) => void): void;
  /** A start that came to nothing is over. */
  abandon(): void;
}

export class OwnThread implements NicHandle {
  readonly state = new Int32Array(new SharedArrayBuffer(4 * ThreadWords.COUNT));
  readonly isOwn = true;
  readonly owner = threadId;
  wakeFd: number | undefined;
  #worker: Worker | undefined;
  #forgetExit: (() => void) | undefined;

  constructor(private readonly spec: AdapterSpec) {}

  admit(first: ClientStart, onEnd: (why: string) => void): void {
    const start = { spec: this.spec, native: nativeHost() !== undefined, state: this.state.buffer, first };
    const worker = startThread(start);
    this.#worker = worker;
    worker.on('error', (error) => onEnd(error.message));
    worker.on('exit', () => {
      this.#forgetExit?.();
      if (Atomics.load(this.state, ThreadWords.STATE) !== ThreadState.STOPPED) onEnd('it has ended');
    });
    worker.unref();
    // Before it is waited for: an interrupted start leaves a thread that a process must ask to end, too.
    this.#forgetExit = closeAtExit(() => this.abandon());
  }

  /** Has it end, whoever still uses it: the thread that has started it ends. */
  abandon(): void {
    this.#forgetExit?.();
    Atomics.store(this.state, ThreadWords.STOP, 1);
    this.#worker?.postMessage({ wake: true });
    const begunMs = performance.now();
    // The address must be free, and the program's memory no longer in use, when this returns.
    while (this.#isRunning && performance.now() - begunMs < STOP_TIMEOUT_MS) {
      this.#wake();
      Atomics.wait(this.state, ThreadWords.STATE, ThreadState.RUNNING, 100);
    }
  }

  get #isRunning(): boolean {
    return Atomics.load(this.state, ThreadWords.STATE) === ThreadState.RUNNING;
  }

  #wake(): void {
    if (this.wakeFd !== undefined) EventFd.ring(this.wakeFd);
  }
}

/** What is handed to others for them to open: plain data, and a port that must be transferred. */
export interface SharedThread extends SharedDevice {
  readonly host: 'thread';
  readonly port: MessagePort;
  readonly state: ArrayBufferLike;
  readonly wakeFd: number | undefined;
  readonly owner: number;
}

export function isSharedThread(device: SharedDevice): device is SharedThread {
  return (
    device.host === 'thread' &&
    'port' in device &&
    device.port instanceof MessagePort &&
    'state' in device &&
    device.state instanceof SharedArrayBuffer &&
    'owner' in device
  );
}

const used = new WeakSet<MessagePort>();

export class SharedNic implements NicHandle {
  readonly state: Int32Array;
  readonly isOwn: boolean;
  readonly owner: number;
  wakeFd: number | undefined;

  constructor(private readonly device: SharedThread) {
    this.state = new Int32Array(device.state);
    this.owner = device.owner;
    this.isOwn = device.owner === threadId;
    this.wakeFd = device.wakeFd;
  }

  admit(start: ClientStart): void {
    const { port } = this.device;
    const { wakeFd } = this;
    if (Atomics.load(this.state, ThreadWords.STATE) !== ThreadState.RUNNING)
      throw new CommandError('EINVAL', 'nobody has the device open any more');
    if (used.has(port) || receiveMessageOnPort(port) !== undefined)
      throw new CommandError('EINVAL', 'what was shared is good for one context: have the device shared once more');
    used.add(port);
    port.postMessage(start, [start.commands, start.notices]);
    port.close();
    Atomics.add(this.state, ThreadWords.KNOCKS, 1);
    if (wakeFd !== undefined) EventFd.ring(wakeFd);
  }

  abandon(): void {
    // Others have it; and the NIC notices when a client's ports are closed.
  }
}
