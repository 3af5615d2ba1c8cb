import { CmAttribute, NakCode, Opcode } from '../device/wire/index.js';
import { invalid, isList, isObject, objectProblem, refuse, show, VerbsError } from '../api/verbs/index.js';
import type { SimPacket } from './capture.js';
import { type AckKind, adviceFor, checkFields, type CmName, type NakName, type OpcodeName } from './packet.js';

/** A host, or its name. */
export type HostRef = string | { readonly name: string };

/** Which packets: those that fit in everything that is said. */
export interface PacketMatch {
  readonly from?: HostRef;
  readonly to?: HostRef;
  /** One, one of several, or all whose names fit: `/WRITE/`. */
  readonly opcode?: OpcodeName | readonly OpcodeName[] | RegExp;
  /** Packets with opcode ACKNOWLEDGE of that kind. */
  readonly ack?: AckKind;
  /** NAKs for that reason. */
  readonly nak?: NakName;
  /** Messages of the connection manager: one, or one of several. */
  readonly cm?: CmName | readonly CmName[];
  /** For that queue pair. */
  readonly qpn?: number;
  readonly psn?: number;
  /** And whatever else is to hold. */
  readonly where?: (packet: SimPacket) => boolean;
}

/** The hosts that there are, by name. */
export type HostNames = ReadonlyMap<string, unknown>;

/** Whether a packet fits. */
export type Matcher = (packet: SimPacket) => boolean;

const AckKinds = { ACK: 0, NAK: 0, RNR_NAK: 0 } satisfies Record<AckKind, number>;

/** What each field's values are called, where they are names. */
const NAMES: Readonly<Record<'opcode' | 'ack' | 'nak' | 'cm', Readonly<Record<string, number>>>> = {
  opcode: Opcode,
  ack: AckKinds,
  nak: NakCode,
  cm: CmAttribute,
};
const FIELDS = ['from', 'to', 'opcode', 'ack', 'nak', 'cm', 'qpn', 'psn', 'where'];

function wrong(call: string, message: string, advice: string): never {
  throw new VerbsError(call, invalid(message, advice));
}

function checkNames(call: string, field: keyof typeof NAMES, value: unknown): void {
  for (const name of isList(value) ? value : [value])
    if (typeof name !== 'string' || !Object.hasOwn(NAMES[field], name))
      wrong(call, `${field} is ${show(name)}`, adviceFor(name, Object.keys(NAMES[field])));
}

/** The name of a host. @throws VerbsError EINVAL when there is none of that name */
export function hostName(call: string, host: unknown, known: HostNames): string {
  const name = isObject(host) && 'name' in host ? host.name : host;
  const names = [...known.keys()];
  if (typeof name === 'string' && known.has(name)) return name;
  return wrong(call, `there is no host ${show(name)}`, `sim.host(name) makes one. ${adviceFor(name, names)}`);
}

/**
 * Makes a test of what somebody wants to match.
 *
 * @param more fields that are the caller's business
 * @throws VerbsError EINVAL for a field or a name that does not exist: a test that can never match proves nothing
 */
export function matcher(call: string, match: PacketMatch, known: HostNames, more: readonly string[] = []): Matcher {
  refuse(call, objectProblem('match', match));
  checkFields(call, 'a match', match, [...FIELDS, ...more]);
  const tests: Matcher[] = [];
  const { opcode, qpn, psn, where } = match;
  for (const end of ['from', 'to'] as const) {
    if (match[end] === undefined) continue;
    const name = hostName(call, match[end], known);
    tests.push((packet) => packet[end] === name);
  }
  if (opcode instanceof RegExp) tests.push((packet) => packet.opcode.search(opcode) >= 0);
  for (const field of ['opcode', 'ack', 'nak', 'cm'] as const) {
    const value = match[field];
    if (value === undefined || value instanceof RegExp) continue;
    checkNames(call, field, value);
    const names: readonly string[] = typeof value === 'string' ? [value] : value;
    tests.push((packet) => names.includes(packet[field] ?? ''));
  }
  if (qpn !== undefined) tests.push((packet) => packet.qpn === qpn);
  if (psn !== undefined) tests.push((packet) => packet.psn === psn);
  if (where !== undefined) {
    if (typeof where !== 'function') wrong(call, `where is ${show(where)}`, 'It is a function that takes a packet');
    tests.push(where);
  }
  return (packet) => tests.every((test) => test(packet));
}

/** What is matched, in words: `RC_ACKNOWLEDGE from server`. */
export function describeMatch({ from, to, opcode, ack, nak, cm, qpn, psn, where }: PacketMatch): string {
  const nameOf = (host: HostRef): string => (typeof host === 'string' ? host : host.name);
  const list = (value: string | readonly string[] | RegExp): string =>
    typeof value === 'string' ? value : value instanceof RegExp ? String(value) : value.join(' or ');
  const words = [
    ...[opcode, cm, nak ?? ack].map((value) => (value === undefined ? '' : list(value))),
    from === undefined ? '' : `from ${nameOf(from)}`,
    to === undefined ? '' : `to ${nameOf(to)}`,
    qpn === undefined ? '' : `qpn ${qpn}`,
    psn === undefined ? '' : `psn ${psn}`,
    where === undefined ? '' : `where ${String(where)}`,
  ].filter((word) => word !== '');
  return words.length === 0 ? 'any packet' : words.join(' ');
}
