import { Errno } from '../../device/ibta/index.js';
import type { Calls } from '../notifications/blocked-calls.js';
import { canWriteProgram, readProgram, writeProgram } from '../processes/program-memory.js';
import type { Caller } from './command.js';
import { findCommand } from './commands/index.js';
import type { EncodedOutcome, GuestContext } from './guest-context.js';
import { errnoOf, Refusal } from '../refusal.js';

/** `struct ib_uverbs_ioctl_hdr`, and `struct ib_uverbs_attr` behind it. */
const HEADER_BYTES = 24;
const ATTRIBUTE_BYTES = 16;
const MAX_ATTRIBUTES = 32;
/** Up to so many bytes stand in the attribute itself. */
const INLINE_BYTES = 8;
/** Requests and answers are some hundred bytes long. */
const MAX_BYTES = 16384;

const OBJECT_DEVICE = 0;
const METHOD_INVOKE_WRITE = 0;
const Attribute = { CORE_IN: 0, CORE_OUT: 1, COMMAND: 2, DRIVER_IN: 0x1000, DRIVER_OUT: 0x1001 } as const;
const COMMAND_BYTES = 4;
const EXTENDED = 0x8000_0000;

interface IoctlAttribute {
  readonly length: number;
  /** A pointer, unless the bytes stand here. */
  readonly address: number;
  readonly inline: Uint8Array;
}

interface Frame {
  readonly object: number;
  readonly method: number;
  readonly attributes: ReadonlyMap<number, IoctlAttribute>;
}

/** The frame of a call of `ioctl(fd, RDMA_VERBS_IOCTL, …)`. @throws Refusal EFAULT, EINVAL */
function readFrame(tid: number, address: number): Frame {
  const header = readProgram(tid, address, HEADER_BYTES);
  if (header === undefined) throw new Refusal('EFAULT');
  const view = new DataView(header.buffer);
  const [length, object, method, count] = [0, 2, 4, 6].map((at) => view.getUint16(at, true));
  if (count > MAX_ATTRIBUTES || length !== HEADER_BYTES + count * ATTRIBUTE_BYTES) throw new Refusal('EINVAL');
  const rest = readProgram(tid, address + HEADER_BYTES, count * ATTRIBUTE_BYTES);
  if (rest === undefined) throw new Refusal('EFAULT');
  const attributes = new Map<number, IoctlAttribute>();
  const words = new DataView(rest.buffer);
  for (let at = 0; at < rest.length; at += ATTRIBUTE_BYTES) {
    attributes.set(words.getUint16(at, true), {
      length: words.getUint16(at + 2, true),
      address: words.getUint32(at + 8, true) + words.getUint32(at + 12, true) * 2 ** 32,
      inline: rest.subarray(at + 8, at + ATTRIBUTE_BYTES),
    });
  }
  return { object, method, attributes };
}

function readInput(tid: number, attribute: IoctlAttribute | undefined): Uint8Array {
  if (attribute === undefined) return new Uint8Array(0);
  const { length, address, inline } = attribute;
  if (length <= INLINE_BYTES) return inline.slice(0, length);
  const bytes = length > MAX_BYTES ? undefined : readProgram(tid, address, length);
  if (bytes === undefined) throw new Refusal('EFAULT');
  return bytes;
}

/** As much of an answer as the program has room for. */
function writeOutput(tid: number, attribute: IoctlAttribute | undefined, bytes: Uint8Array): void {
  if (attribute === undefined || bytes.length === 0) return;
  const { length, address } = attribute;
  if (!writeProgram(tid, address, bytes.subarray(0, length))) throw new Refusal('EFAULT');
}

/** @throws Refusal EFAULT where an answer of so many bytes, as far as the program has room for it, cannot be written */
function checkOutput(tid: number, attribute: IoctlAttribute | undefined, mostBytes: number): void {
  const bytes = Math.min(attribute?.length ?? 0, mostBytes);
  if (attribute !== undefined && bytes > 0 && !canWriteProgram(tid, attribute.address, bytes))
    throw new Refusal('EFAULT');
}

/**
 * Answers a call of `ioctl` on a device. Of all methods there is one, which carries the commands of the older ABI: of the others
 * libibverbs learns that there is none, and sends the same by that.
 */
export function answerIoctl(file: GuestContext, calls: Calls): void {
  try {
    const frame = readFrame(calls.tid, calls.address(2));
    if (frame.object !== OBJECT_DEVICE || frame.method !== METHOD_INVOKE_WRITE) throw new Refusal('EPROTONOSUPPORT');
    invoke(file, calls, frame);
  } catch (error) {
    const errno = errnoOf(error);
    // A mistake of ours is told as one, and the program goes on as with a device that failed.
    if (errno === undefined) process.emitWarning(error instanceof Error ? error : String(error));
    calls.refuse(errno ?? Errno.EIO);
  }
}

function invoke(file: GuestContext, calls: Calls, { attributes }: Frame): void {
  const { tid } = calls;
  const code = readInput(tid, attributes.get(Attribute.COMMAND));
  if (code.length < COMMAND_BYTES) throw new Refusal('EINVAL');
  const word = new DataView(code.buffer).getUint32(0, true);
  const number = word & ~EXTENDED;
  const found = findCommand(number, (word & EXTENDED) !== 0);
  if (found === undefined) throw new Refusal('EOPNOTSUPP');
  const lengthOf = (id: number): number => attributes.get(id)?.length ?? 0;
  // By a QUERY_DEVICE without an answer libibverbs learns that the method exists.
  if (lengthOf(Attribute.CORE_IN) < found.requestBytes || lengthOf(Attribute.CORE_OUT) < found.answerBytes)
    throw new Refusal('ENOSPC');
  const request = readInput(tid, attributes.get(Attribute.CORE_IN));
  const driver = readInput(tid, attributes.get(Attribute.DRIVER_IN));
  const given = (): Uint8Array => Buffer.concat([code, request, driver]);
  const carryOut = (): EncodedOutcome => {
    checkOutput(tid, attributes.get(Attribute.CORE_OUT), found.outputBytes.answer);
    checkOutput(tid, attributes.get(Attribute.DRIVER_OUT), found.outputBytes.driver);
    try {
      return found.run(file, request, driver, callerOf(calls));
    } catch (error) {
      file.refused(`${found.call}${found.subject(file, request)}`, error);
      throw error;
    }
  };
  const outcome = file.undelivered.take(tid, given) ?? carryOut();
  try {
    writeOutput(tid, attributes.get(Attribute.CORE_OUT), outcome.answer);
    writeOutput(tid, attributes.get(Attribute.DRIVER_OUT), outcome.driver);
  } catch (error) {
    outcome.undo?.();
    throw error;
  }
  if (calls.answer(0)) return;
  // A signal has taken the call back: the program has not got what was made, and asks again.
  if (outcome.undo !== undefined) outcome.undo();
  else if (!found.repeatable) file.undelivered.keep(tid, given(), outcome);
}

function unwritable(address: bigint): Refusal {
  return new Refusal('EFAULT', `the answer cannot be written to 0x${address.toString(16)} of the program`);
}

function callerOf(calls: Calls): Caller {
  return {
    tid: calls.tid,
    giveFd: (fd) => {
      const number = calls.addFd(fd);
      if (number < 0) throw new Refusal('EMFILE', 'the program has no descriptor left. Raise ulimit -n');
      return number;
    },
    requireWritable: (address, lengthBytes) => {
      if (!canWriteProgram(calls.tid, Number(address), lengthBytes)) throw unwritable(address);
    },
    write: (address, bytes) => {
      if (!writeProgram(calls.tid, Number(address), bytes)) throw unwritable(address);
    },
  };
}
