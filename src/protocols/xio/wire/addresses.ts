import { viewOf } from '../../../device/wire/index.js';

// URLs of servers, as messages carry them: {length 2, URL}..., whose number is said elsewhere.

export const MAX_ADDRESSES = 64;
/** Bytes of a URL, of a resource, and of words. */
export const MAX_TEXT_BYTES = 1024;
/** Bytes that all URLs of a message take together: a head has room for them, and for private data. */
export const MAX_ADDRESS_BYTES = 6144;

export const encoder = new TextEncoder();

/** Bytes that addresses take in a message. */
export function addressBytesOf(addresses: readonly string[]): number {
  return addresses.reduce((sum, address) => sum + 2 + encoder.encode(address).length, 0);
}

export function encodeAddresses(addresses: readonly string[]): Uint8Array {
  const bytes = new Uint8Array(addressBytesOf(addresses));
  const view = viewOf(bytes);
  let at = 0;
  for (const address of addresses) {
    const text = encoder.encode(address);
    view.setUint16(at, text.length);
    bytes.set(text, at + 2);
    at += 2 + text.length;
  }
  return bytes;
}

/** @returns the addresses that begin there, and where they end; undefined where they are not so */
export function addressesIn(
  bytes: Uint8Array,
  begin: number,
  count: number,
): { readonly addresses: readonly string[]; readonly end: number } | undefined {
  const addresses: string[] = [];
  const view = viewOf(bytes);
  let end = begin;
  for (let i = 0; i < count; i += 1) {
    if (end + 2 > bytes.length) return undefined;
    const length = view.getUint16(end);
    const from = end + 2;
    end = from + length;
    if (end > bytes.length || length > MAX_TEXT_BYTES) return undefined;
    addresses.push(textIn(bytes.subarray(from, end)));
  }
  return { addresses, end };
}

/** Text of a peer's, without what could not be printed. */
export function textIn(bytes: Uint8Array): string {
  // eslint-disable-next-line no-control-regex -- Those are what a terminal must not be told by a peer.
  return new TextDecoder().decode(bytes).replace(/[\u0000-\u001f\u007f-\u009f]/g, '?');
}
