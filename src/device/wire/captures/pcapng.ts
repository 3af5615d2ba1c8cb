/** Writing pcapng files (https://www.ietf.org/archive/id/draft-ietf-opsawg-pcapng-02.html), least significant byte first. */
import { putU16Le, putU32Le } from '../bytes.js';

export const PcapngBlock = {
  /** Reads the same in both byte orders. */
  SECTION_HEADER: 0x0a0d0d0a,
  INTERFACE_DESCRIPTION: 1,
  OBSOLETE_PACKET: 2,
  SIMPLE_PACKET: 3,
  ENHANCED_PACKET: 6,
} as const;

/** Codes of options, as far as they are read or written here. */
export const PcapngOption = {
  END: 0,
  COMMENT: 1,
  EPB_FLAGS: 2,
  EPB_DROPCOUNT: 4,
  SHB_USERAPPL: 4,
  IF_TSRESOL: 9,
  IF_TSOFFSET: 14,
} as const;

/** What a section header tells its byte order by. */
export const SECTION_BYTE_ORDER_MAGIC = 0x1a2b3c4d;

/** Timestamps are written in units of 10^-9 s. */
const NANOSECONDS = 9;

interface Option {
  readonly code: number;
  readonly value: Uint8Array;
}

const text = new TextEncoder();

const padded = (length: number): number => length + (-length & 3);

function optionsBytes(options: readonly Option[]): number {
  return options.reduce((sum, { value }) => sum + 4 + padded(value.length), options.length === 0 ? 0 : 4);
}

/** Makes a block with `fixedBytes` of body for the caller to fill, and options after them. */
function makeBlock(type: number, fixedBytes: number, options: readonly Option[]): Uint8Array {
  const block = new Uint8Array(8 + padded(fixedBytes) + optionsBytes(options) + 4);
  putU32Le(block, 0, type);
  putU32Le(block, 4, block.length);
  let at = 8 + padded(fixedBytes);
  for (const { code, value } of options) {
    putU16Le(block, at, code);
    putU16Le(block, at + 2, value.length);
    block.set(value, at + 4);
    at += 4 + padded(value.length);
  }
  putU32Le(block, block.length - 4, block.length);
  return block;
}

/** What a capture file says of itself. */
export interface PcapngHeaderOptions {
  /** What frames begin with, see `LinkType`. */
  readonly linkType: number;
  readonly appName?: string;
  /** Bytes kept of a frame at most; 0 = all. */
  readonly snapLength?: number;
}

/** The beginning of a file: a section header and the description of its one interface, with times in nanoseconds. */
export function pcapngHeader({ linkType, appName, snapLength = 0 }: PcapngHeaderOptions): Uint8Array {
  const application = appName === undefined ? [] : [{ code: PcapngOption.SHB_USERAPPL, value: text.encode(appName) }];
  const section = makeBlock(PcapngBlock.SECTION_HEADER, 16, application);
  putU32Le(section, 8, SECTION_BYTE_ORDER_MAGIC);
  putU16Le(section, 12, 1);
  section.fill(0xff, 16, 24); // the section's length is not known before its end

  const resolution = { code: PcapngOption.IF_TSRESOL, value: Uint8Array.of(NANOSECONDS) };
  const description = makeBlock(PcapngBlock.INTERFACE_DESCRIPTION, 8, [resolution]);
  putU16Le(description, 8, linkType);
  putU32Le(description, 12, snapLength);

  const header = new Uint8Array(section.length + description.length);
  header.set(section);
  header.set(description, section.length);
  return header;
}

/** What can be said of a packet beside its bytes. */
export interface PcapngPacketOptions {
  /** Whether the machine that captured received the packet or sent it. */
  readonly direction?: 'in' | 'out';
  readonly comment?: string;
  /** Bytes of the frame on the wire, when `data` is only its beginning. */
  readonly originalLength?: number;
  /** Packets that the capture lacks between the one before and this one. */
  readonly droppedBefore?: number;
}

export function pcapngPacket(timestampNs: bigint, data: Uint8Array, options: PcapngPacketOptions = {}): Uint8Array {
  const { direction, comment, originalLength = data.length, droppedBefore = 0 } = options;
  const list: Option[] = [];
  if (comment !== undefined) list.push({ code: PcapngOption.COMMENT, value: text.encode(comment) });
  if (direction !== undefined) {
    list.push({ code: PcapngOption.EPB_FLAGS, value: Uint8Array.of(direction === 'in' ? 1 : 2, 0, 0, 0) });
  }
  if (droppedBefore > 0) {
    const value = new Uint8Array(8);
    putU32Le(value, 0, droppedBefore);
    putU32Le(value, 4, Math.floor(droppedBefore / 0x1_0000_0000));
    list.push({ code: PcapngOption.EPB_DROPCOUNT, value });
  }
  const block = makeBlock(PcapngBlock.ENHANCED_PACKET, 20 + data.length, list);
  putU32Le(block, 12, Number(BigInt.asIntN(32, timestampNs >> 32n)));
  putU32Le(block, 16, Number(BigInt.asIntN(32, timestampNs)));
  putU32Le(block, 20, data.length);
  putU32Le(block, 24, originalLength);
  block.set(data, 28);
  return block;
}
