import { hex } from '../../core/index.js';
import { ucsStatusName, UcsStatus } from '../wire/index.js';

// Numbers in words.

const MOST_DECIMAL = 65_535n;
const AM_ID_MASK = 0xffffn;

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
