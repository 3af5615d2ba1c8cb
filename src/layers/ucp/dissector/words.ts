import { ucsStatusName, UcsStatus } from '../wire/index.js';

// Numbers in words.

const KIB = 1024;
const MIB = KIB * KIB;
const MOST_DECIMAL = 65_535n;
const AM_ID_MASK = 0xffffn;

/** `20 B`, `64 KiB`, `1 MiB`. */
export function amount(bytes: number): string {
  if (bytes > 0 && bytes % MIB === 0) return `${bytes / MIB} MiB`;
  return bytes > 0 && bytes % KIB === 0 ? `${bytes / KIB} KiB` : `${bytes} B`;
}

export function hex(value: number | bigint): string {
  return `0x${value.toString(16)}`;
}

/** Small tags are numbers, and large ones are bits. */
export function tagText(tag: bigint): string {
  return `tag ${tag <= MOST_DECIMAL ? tag.toString() : hex(tag)}`;
}

/** Which active message of a program, in the first two bytes of its header. */
export function amText(header: bigint): string {
  return `AM ${(header & AM_ID_MASK).toString()}`;
}

/** `ok`, or the name. */
export function statusText(status: number): string {
  return status === UcsStatus.UCS_OK ? 'ok' : (ucsStatusName(status) ?? `status ${status}`);
}
