import type { FuzzMemory, Zone } from './memory.js';
import type { Choices } from '../../../../test/fuzz/random.js';

const HEADER_BYTES = 24;
const ATTRIBUTE_BYTES = 16;
const INLINE_BYTES = 8;
const ROOM_BYTES = 1024;
const Attribute = { CORE_IN: 0, CORE_OUT: 1, COMMAND: 2, DRIVER_IN: 0x1000, DRIVER_OUT: 0x1001 } as const;
const EXTENDED = 0x8000_0000;

export interface UverbsCommand {
  readonly number: number;
  readonly extended?: boolean;
  readonly request: Uint8Array;
  readonly driver?: Uint8Array;
  /** Where the program wants its answers; default: where {@link Frame} has them. */
  readonly answerAt?: number;
  readonly driverAt?: number;
}

/** Where the parts of the frame lie in the program's memory, and where it reads the answers. */
export interface Frame {
  readonly at: number;
  readonly answer: Uint8Array;
  readonly driver: Uint8Array;
}

interface Written {
  readonly id: number;
  length: number;
  data: bigint;
}

/** Writes the frame of a call of `ioctl` into the program's memory: mostly right. */
export function writeFrame(
  memory: FuzzMemory,
  { number, extended = false, request, driver, ...wanted }: UverbsCommand,
  choices: Choices,
): Frame {
  const { commands } = memory;
  const { at, bytes } = commands;
  const place = (index: number): number => 2048 + index * ROOM_BYTES;
  const put = (index: number, content: Uint8Array): bigint => {
    if (content.length <= INLINE_BYTES) {
      const inline = new Uint8Array(INLINE_BYTES);
      inline.set(content);
      return new DataView(inline.buffer).getBigUint64(0, true);
    }
    bytes.set(content, place(index));
    return BigInt(at + place(index));
  };
  const answer = bytes.subarray(place(2), place(3));
  const driverAnswer = bytes.subarray(place(3), place(4));
  answer.fill(0);
  driverAnswer.fill(0);
  let attributes: Written[] = [
    { id: Attribute.COMMAND, length: 8, data: BigInt(number + (extended ? EXTENDED : 0)) },
    { id: Attribute.CORE_IN, length: request.length, data: put(0, request) },
    { id: Attribute.CORE_OUT, length: ROOM_BYTES, data: BigInt(wanted.answerAt ?? at + place(2)) },
    { id: Attribute.DRIVER_OUT, length: ROOM_BYTES, data: BigInt(wanted.driverAt ?? at + place(3)) },
  ];
  if (driver !== undefined) attributes.push({ id: Attribute.DRIVER_IN, length: driver.length, data: put(1, driver) });
  if (choices.chance(20)) attributes = attributes.reverse();
  if (choices.chance(6)) {
    const one = choices.of(attributes);
    const lies = [
      () => (one.length = choices.of([0, 1, 4, 7, 9, 16, 65535, choices.below(200)])),
      () => (one.data = BigInt(memory.nowhere(choices))),
      () => (one.data = choices.of([2n ** 63n, 2n ** 64n - 1n, 2n ** 47n, BigInt(at + bytes.length - 4)])),
      () => attributes.splice(choices.below(attributes.length), 1),
      () => attributes.push({ ...one, id: choices.of([0, 1, 2, 3, 0x1000, 0x1001, 0xffff]) }),
    ];
    choices.of(lies)();
  }
  return { at: writeAttributes(commands, attributes, choices), answer, driver: driverAnswer };
}

/** @returns the address of the header */
function writeAttributes({ at, bytes }: Zone, attributes: readonly Written[], choices: Choices): number {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  const lie = choices.chance(2);
  const count = lie ? choices.of([0, attributes.length + 1, 33, 65535]) : attributes.length;
  const rightLength = HEADER_BYTES + attributes.length * ATTRIBUTE_BYTES;
  view.setUint16(0, choices.chance(99) ? rightLength : choices.below(65536), true);
  view.setUint16(2, choices.chance(99) ? 0 : choices.below(20), true);
  view.setUint16(4, choices.chance(98) ? 0 : choices.below(8), true);
  view.setUint16(6, count, true);
  attributes.forEach(({ id, length, data }, i) => {
    const from = HEADER_BYTES + i * ATTRIBUTE_BYTES;
    view.setUint16(from, id, true);
    view.setUint16(from + 2, length, true);
    view.setUint32(from + 4, 1, true);
    view.setBigUint64(from + 8, BigInt.asUintN(64, data), true);
  });
  return choices.chance(99) ? at : choices.of([0, at + bytes.length - 8, 2 ** 47]);
}
