import { statusName, XioStatus } from '../wire/index.js';

const ID_BYTES = 4;

/** The beginning of a random name: as much as tells it from others. */
export function idText(id: Uint8Array): string {
  return Array.from(id.subarray(0, ID_BYTES), (byte) => byte.toString(16).padStart(2, '0')).join('');
}

/** Of what has failed, why; of all else nothing. */
export function failureText(status: XioStatus): string {
  return status === XioStatus.XIO_E_SUCCESS ? '' : ` ${statusName(status) ?? `status ${status}`}`;
}
