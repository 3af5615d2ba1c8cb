import { closeSync } from 'node:fs';
import { NativeBlock } from '../memory/memory.js';
import { type NativeHost, requireNativeHost } from '../native.js';
import { withoutSignals } from '../threads.js';

const RECEIVE = 0xc050_2100;
const SEND = 0xc018_2101;
const ID_VALID = 0x4008_2102;
const ADD_FD = 0xc018_2103;
const SET_FLAGS = 0x4008_2104;

const SYNC_WAKE_UP = 1;
const FLAG_CONTINUE = 1;
const ADDFD_AT_NUMBER = 1;
const ADDFD_AND_ANSWER = 2;
const O_CLOEXEC = 0o2000000;

/** Offsets in `struct seccomp_notif`. */
const Call = { ID: 0, TID: 8, NUMBER: 16, INSTRUCTION: 24, ARGUMENTS: 32, BYTES: 80 } as const;
/** Offsets in `struct seccomp_notif_resp`. */
const Answer = { ID: 0, VALUE: 8, ERROR: 16, FLAGS: 20, BYTES: 24 } as const;
/** Offsets in `struct seccomp_notif_addfd`. */
const AddFd = { ID: 0, FLAGS: 8, SOURCE: 12, TARGET: 16, TARGET_FLAGS: 20, BYTES: 24 } as const;

export interface CallId {
  readonly low: number;
  readonly high: number;
}

/**
 * The system calls that a filter has wait for an answer, one at a time: {@link receive} takes the next, which the getters
 * then tell, until one of {@link answer}, {@link refuse} and {@link letThrough} has been called.
 */
export class NotifiedCalls {
  readonly #native: NativeHost = requireNativeHost();
  readonly #call = new NativeBlock(Call.BYTES);
  readonly #answer = new NativeBlock(Answer.BYTES);
  readonly #addFd = new NativeBlock(AddFd.BYTES);
  readonly #name = new NativeBlock(8);

  /** @param fd a listener's, readable while a call waits */
  constructor(readonly fd: number) {}

  /**
   * Whether whoever is woken by a call, or by its answer, runs on the processor of who woke him, and not on one that the kernel finds
   * for him. Where the other waits from then on, that is several times as quick.
   *
   * @returns false on kernels before 6.6, which cannot
   */
  wakeInPlace(inPlace: boolean): boolean {
    return this.#native.libc.ioctl(this.fd, SET_FLAGS, inPlace ? SYNC_WAKE_UP : 0) === 0;
  }

  /** Takes the next call, and waits for one where none waits. @returns false when there is none, or it was interrupted */
  receive(): boolean {
    this.#call.words.fill(0);
    return this.#native.libc.ioctl(this.fd, RECEIVE, this.#call.address) === 0;
  }

  get id(): CallId {
    return { low: this.#call.words[Call.ID >> 2], high: this.#call.words[(Call.ID >> 2) + 1] };
  }

  get tid(): number {
    return this.#call.words[Call.TID >> 2];
  }

  get number(): number {
    return this.#call.words[Call.NUMBER >> 2];
  }

  get instruction(): number {
    return this.#call.getPointer(Call.INSTRUCTION);
  }

  /** An argument that is an `int` in C: a descriptor, flags. */
  int(index: number): number {
    return this.#call.words[(Call.ARGUMENTS >> 2) + 2 * index];
  }

  /** An argument that is a pointer or a size. What no program can have there comes as a number that no memory has. */
  address(index: number): number {
    return this.#call.getPointer(Call.ARGUMENTS + 8 * index);
  }

  /** Whether a call still waits: a signal or the end of its process takes it back. */
  isWaiting({ low, high }: CallId): boolean {
    this.#name.words[0] = low;
    this.#name.words[1] = high;
    return this.#native.libc.ioctl(this.fd, ID_VALID, this.#name.address) === 0;
  }

  /** Has the call give that number. @returns false when nobody waits for it any more */
  answer(value: number, id?: CallId): boolean {
    return this.#send(value, 0, 0, id);
  }

  /** Has the call fail. @param errno its number. @returns as {@link answer} */
  refuse(errno: number, id?: CallId): boolean {
    return this.#send(0, -errno, 0, id);
  }

  /** Has the kernel do what was called. @returns as {@link answer} */
  letThrough(): boolean {
    return this.#send(0, 0, FLAG_CONTINUE, undefined);
  }

  /**
   * Puts a file of ours into the program.
   *
   * @param at the number that it gets there, in place of what has it; without one, the lowest free
   * @returns the number, or -1 when the call was taken back or the program can have no more
   */
  addFd(fd: number, at?: number): number {
    return this.#addDescriptor(fd, at, at === undefined ? 0 : ADDFD_AT_NUMBER);
  }

  /** As {@link addFd}, and has the call give the number. */
  answerWithFd(fd: number, at?: number): number {
    const flags = at === undefined ? 0 : ADDFD_AT_NUMBER;
    return this.#addDescriptor(fd, at, flags | ADDFD_AND_ANSWER);
  }

  close(): void {
    closeSync(this.fd);
  }

  #addDescriptor(fd: number, at: number | undefined, flags: number): number {
    const { words, address } = this.#addFd;
    words[AddFd.ID >> 2] = this.#call.words[0];
    words[(AddFd.ID >> 2) + 1] = this.#call.words[1];
    words[AddFd.FLAGS >> 2] = flags;
    words[AddFd.SOURCE >> 2] = fd;
    words[AddFd.TARGET >> 2] = at ?? 0;
    words[AddFd.TARGET_FLAGS >> 2] = O_CLOEXEC;
    // A signal of ours that came in its midst would have the call give 0, with no file there.
    return withoutSignals(() => this.#native.libc.ioctl(this.fd, ADD_FD, address));
  }

  #send(value: number, error: number, flags: number, id: CallId | undefined): boolean {
    const { words, address } = this.#answer;
    words[Answer.ID >> 2] = id?.low ?? this.#call.words[0];
    words[(Answer.ID >> 2) + 1] = id?.high ?? this.#call.words[1];
    words[Answer.VALUE >> 2] = value;
    words[(Answer.VALUE >> 2) + 1] = value < 0 ? -1 : 0;
    words[Answer.ERROR >> 2] = error;
    words[Answer.FLAGS >> 2] = flags;
    return this.#native.libc.ioctl(this.fd, SEND, address) === 0;
  }
}
