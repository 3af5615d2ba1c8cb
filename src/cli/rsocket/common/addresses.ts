import { isIPv6 } from 'node:net';
import { AddressFamily } from '../../../entry/rsocket.js';

/** The family of an address; of none IPv4, as in C. */
export function familyOf(address: string | undefined): AddressFamily {
  return address !== undefined && isIPv6(address) ? AddressFamily.INET6 : AddressFamily.INET;
}
