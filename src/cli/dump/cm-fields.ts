/** All fields of a message of the connection manager, for people and for programs. */
import { CmAttribute, type CmMessage, type CmPath, hex, splitServiceId } from '../../device/wire/index.js';
import { ipFromGid, nameOf, PortSpace } from '../../entry/index.js';
import { addressesOf, formatService, messageName, valueName } from './cm-names.js';

/** Hexadecimal digits of the numbers that people know in this form; all others are decimal. */
const HEX_DIGITS: Readonly<Record<string, number | undefined>> = {
  localCommId: 8,
  remoteCommId: 8,
  requestId: 8,
  vendorId: 6,
  localQkey: 8,
  qkey: 8,
  localQpn: 6,
  remoteQpn: 6,
  qpn: 6,
  localEecn: 6,
  remoteEecn: 6,
  startingPsn: 6,
  pkey: 4,
  localLid: 4,
  remoteLid: 4,
  flowLabel: 5,
  trafficClass: 2,
};

const snakeCase = (name: string): string => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
const toHex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');

function isPath(value: unknown): value is CmPath {
  return typeof value === 'object' && value !== null && 'hopLimit' in value;
}

/** What is said elsewhere: by the name of the message, and in the MAD header. */
function fieldsOf(message: CmMessage): [name: string, value: unknown][] {
  return Object.entries(message).filter(([name]) => name !== 'attribute' && name !== 'transactionId');
}

function word(message: CmMessage, name: string, value: unknown): string {
  const key = snakeCase(name);
  if (value instanceof Uint8Array) return `${key}=${ipFromGid(value)}`;
  if (typeof value === 'boolean') return `${key}=${value ? '1' : '0'}`;
  if (typeof value === 'bigint') {
    return `${key}=${hex(value, 16)}${name === 'serviceId' ? ` (${formatService(value)})` : ''}`;
  }
  const number = Number(value);
  const digits = HEX_DIGITS[name];
  const called = valueName(message, name, number);
  return `${key}=${digits === undefined ? number : hex(number, digits)}${called === undefined ? '' : ` (${called})`}`;
}

/** Zeros are what is left when there is no alternate path. */
function pathLine(message: CmMessage, name: string, path: CmPath): string {
  const fields: [string, unknown][] = Object.entries(path);
  const empty = fields.every(([, value]) => (value instanceof Uint8Array ? value.every((byte) => byte === 0) : !value));
  const words = empty ? ['none'] : fields.map(([field, value]) => word(message, field, value));
  return `${snakeCase(name)} ${words.join(' ')}`;
}

/** The bytes up to the last that is not zero. */
function octetsLine(name: string, bytes: Uint8Array): string {
  const used = bytes.findLastIndex((byte) => byte !== 0) + 1;
  const zeros = bytes.length - used;
  const rest = zeros === 0 ? '' : ` and ${zeros} zeros`;
  return `${snakeCase(name)} ${bytes.length} bytes: ${used === 0 ? 'all zero' : `${toHex(bytes.subarray(0, used))}${rest}`}`;
}

/** Lines with every field: the message's own, its paths, the addresses in its private data, its bytes. */
export function cmDetailLines(message: CmMessage): string[] {
  const words: string[] = [];
  const lines: string[] = [];
  for (const [name, value] of fieldsOf(message)) {
    if (isPath(value)) lines.push(pathLine(message, name, value));
    else if (value instanceof Uint8Array) lines.push(octetsLine(name, value));
    else words.push(word(message, name, value));
  }
  const addresses = addressesOf(message);
  if (addresses !== undefined) {
    const { ipVersion, sourcePort, source, destination } = addresses;
    const ends = `source=${ipFromGid(source)} destination=${ipFromGid(destination)}`;
    lines.push(`addresses ip_version=${ipVersion} source_port=${sourcePort} ${ends}`);
  }
  const name = messageName(message);
  return [`${name} ${words.join(' ')}`, ...lines.map((line) => `${name} ${line}`)];
}

/** GIDs as IP addresses, other bytes in hexadecimal. */
function plain(value: unknown): unknown {
  if (value instanceof Uint8Array) return toHex(value);
  if (!isPath(value)) return value;
  return { ...value, localGid: ipFromGid(value.localGid), remoteGid: ipFromGid(value.remoteGid) };
}

function serviceOf(message: CmMessage) {
  const service = 'serviceId' in message ? splitServiceId(message.serviceId) : undefined;
  return service && { portSpace: nameOf(PortSpace, service.portSpace), port: service.port };
}

/** The same as an object for JSON, under the names of our codec. */
export function cmJson(message: CmMessage) {
  const reason = message.attribute === CmAttribute.REJ ? valueName(message, 'reason', message.reason) : undefined;
  const status = 'status' in message ? valueName(message, 'status', message.status) : undefined;
  const service = serviceOf(message);
  const addresses = addressesOf(message);
  return {
    message: messageName(message),
    ...Object.fromEntries(fieldsOf(message).map(([name, value]) => [name, plain(value)])),
    ...(reason !== undefined && { reasonName: reason }),
    ...(status !== undefined && { statusName: status }),
    ...(service !== undefined && { service }),
    ...(addresses !== undefined && {
      addresses: {
        ...addresses,
        source: ipFromGid(addresses.source),
        destination: ipFromGid(addresses.destination),
      },
    }),
  };
}
