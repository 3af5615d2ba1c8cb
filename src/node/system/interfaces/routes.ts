import { readFileSync } from 'node:fs';
import { networkInterfaces } from 'node:os';
import { type Family, familyOf, isLoopback, plainAddress } from '../../../device/wire/index.js';

export interface Route {
  readonly destination: bigint;
  /** Leading bits of it that must match. */
  readonly bits: number;
  readonly metric: number;
  readonly via: string;
}

export interface OwnAddress {
  readonly address: string;
  readonly via: string;
  readonly bits: number;
}

const ADDRESS_BITS = { 4: 32, 6: 128 } as const;
const RTF_UP = 0x1;
const RTF_REJECT = 0x200;

function valueOf(address: string): bigint {
  const hex = familyOf(address) === 4 ? ipv4Hex(address) : ipv6Hex(address);
  return BigInt(`0x${hex}`);
}

function ipv4Hex(address: string): string {
  return address
    .split('.')
    .map((byte) => Number(byte).toString(16).padStart(2, '0'))
    .join('');
}

function ipv6Hex(address: string): string {
  const [head, tail] = address.split('::');
  const groups = (half: string | undefined): string[] => (half === undefined || half === '' ? [] : half.split(':'));
  const before = groups(head);
  const after = groups(tail);
  const zeros = new Array<string>(8 - before.length - after.length).fill('0');
  return [...before, ...zeros, ...after].map((group) => group.padStart(4, '0')).join('');
}

function oneBits(mask: bigint): number {
  return mask.toString(2).replaceAll('0', '').length;
}

/** Linux writes IPv4 addresses there as its processor reads the four bytes: the last one first. */
function littleEndian(hex: string): bigint {
  return BigInt(`0x${(hex.match(/../g) ?? []).reverse().join('')}`);
}

/** The routes of `/proc/net/route`. */
export function parseIpv4Routes(text: string): Route[] {
  return text
    .split('\n')
    .slice(1)
    .map((line) => line.split('\t').map((field) => field.trim()))
    .filter((fields) => fields.length >= 8 && (parseInt(fields[3], 16) & (RTF_UP | RTF_REJECT)) === RTF_UP)
    .map(([via, destination, , , , , metric, mask]) => ({
      destination: littleEndian(destination),
      bits: oneBits(littleEndian(mask)),
      metric: Number(metric),
      via,
    }));
}

/** The routes of `/proc/net/ipv6_route`. */
export function parseIpv6Routes(text: string): Route[] {
  return text
    .split('\n')
    .map((line) => line.trim().split(/\s+/))
    .filter((fields) => fields.length >= 10 && (parseInt(fields[8], 16) & (RTF_UP | RTF_REJECT)) === RTF_UP)
    .map((fields) => ({
      destination: BigInt(`0x${fields[0]}`),
      bits: parseInt(fields[1], 16),
      metric: parseInt(fields[5], 16),
      via: fields[9],
    }));
}

function matches(destination: bigint, prefix: bigint, bits: number, family: Family): boolean {
  const rest = BigInt(ADDRESS_BITS[family] - bits);
  return destination >> rest === prefix >> rest;
}

/**
 * The address that packets to `destination` leave from: that of the interface which the best route names, else one on the
 * same network, else any that leads out. Undefined when there is none.
 */
export function sourceAmong(
  destination: string,
  own: readonly OwnAddress[],
  routes: readonly Route[],
): string | undefined {
  const family = familyOf(destination);
  const value = valueOf(destination);
  const candidates = own.filter(({ address }) => familyOf(address) === family);
  if (candidates.some(({ address }) => address === destination)) return destination;
  const isNear = ({ address, bits }: OwnAddress): boolean => matches(value, valueOf(address), bits, family);
  const near = candidates.find((candidate) => isNear(candidate) && !isLoopback(candidate.address));
  const [best] = routes
    .filter((route) => matches(value, route.destination, route.bits, family))
    .sort((a, b) => b.bits - a.bits || a.metric - b.metric);
  // A table without rows is one that could not be read.
  if (routes.length === 0) return (near ?? candidates.find(({ address }) => isOutward(address)))?.address;
  const there = candidates.filter(({ via }) => via === (best as Route | undefined)?.via);
  return (there.find(isNear) ?? there.find(({ address }) => isOutward(address)) ?? there.at(0))?.address;
}

/** Whether others than neighbours can answer to it. */
function isOutward(address: string): boolean {
  return !isLoopback(address) && !address.startsWith('fe80:');
}

export function ownAddresses(): OwnAddress[] {
  return Object.entries(networkInterfaces()).flatMap(([via, addresses = []]) =>
    addresses.map(({ address, cidr }) => ({ address: plainAddress(address), via, bits: Number(cidr?.split('/')[1]) })),
  );
}

function readRoutes(family: Family): Route[] {
  try {
    if (family === 4) return parseIpv4Routes(readFileSync('/proc/net/route', 'latin1'));
    return parseIpv6Routes(readFileSync('/proc/net/ipv6_route', 'latin1'));
  } catch {
    // Not Linux, or hidden: interfaces tell most of it.
    return [];
  }
}

/** As {@link sourceAmong}, for this machine. */
export function sourceToward(destination: string): string | undefined {
  return sourceAmong(destination, ownAddresses(), readRoutes(familyOf(destination)));
}
