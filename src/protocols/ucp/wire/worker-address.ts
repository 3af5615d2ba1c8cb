import { type Gid, gidFromIp, ipFromGid, isIpv4Gid } from '../../../device/ibta/index.js';
import { constant, only, struct, u16, u64, u8, viewOf } from '../../../device/wire/index.js';

// Where a worker can be reached, in a form that it can send to others by whatever way it likes. The form is ours: UCX's describes devices and their
// transports, of which there is one here, and where to meet by rdma_cm is all that it takes.

const TRANSPORTS = ['rc', 'ud'] as const;

const VERSION = 1;
const GID_BYTES = 16;
const FIRST_OF_GROUPS = { 4: 224, 6: 0xff } as const;

const HEAD = struct({
  version: constant(u8, VERSION, (version) => `version is ${version}, and this end knows version ${VERSION}`),
  transport: only(u8, (transport) => transport < TRANSPORTS.length, 'and 0 is rc, 1 is ud'),
  port: only(u16, (port) => port !== 0, 'which is no port'),
  uuid: u64,
});
const GID_AT = HEAD.bytes;
const NAME_AT = GID_AT + GID_BYTES;

/** Bytes of the longest name of a worker, in UTF-8: `UCP_ENTITY_NAME_MAX` less its end. */
export const MAX_NAME_BYTES = 31;
/** Bytes of the longest address of a worker. */
export const MAX_WORKER_ADDRESS_BYTES = NAME_AT + MAX_NAME_BYTES;

/** Where a worker can be reached. */
export interface WorkerAddress {
  /** By which workers are told apart, 64 bits, random. */
  readonly uuid: bigint;
  /** Its address as text, IPv4 or IPv6. */
  readonly host: string;
  readonly port: number;
  readonly transport: (typeof TRANSPORTS)[number];
  /** What its program calls it, for people; up to {@link MAX_NAME_BYTES}. */
  readonly name: string;
}

/** The bytes of an address. */
export function packWorkerAddress({ uuid, host, port, transport, name }: WorkerAddress): Uint8Array {
  const text = new TextEncoder().encode(name);
  const bytes = new Uint8Array(NAME_AT + text.length);
  HEAD.write(viewOf(bytes), 0, { transport: TRANSPORTS.indexOf(transport), port, uuid });
  bytes.set(gidFromIp(host), GID_AT);
  bytes.set(text, NAME_AT);
  return bytes;
}

/** The address that bytes are, or a sentence that says what is wrong with them. */
export function unpackWorkerAddress(bytes: Uint8Array): WorkerAddress | string {
  if (bytes.length < NAME_AT) return `an address has ${NAME_AT} bytes or more, and these are ${bytes.length}`;
  if (bytes.length > MAX_WORKER_ADDRESS_BYTES)
    return `an address has ${MAX_WORKER_ADDRESS_BYTES} bytes at most, and these are ${bytes.length}`;
  const head = HEAD.decode(bytes);
  if (typeof head === 'string') return head;
  const gid = bytes.slice(GID_AT, NAME_AT);
  const problem = hostProblem(gid);
  if (problem !== undefined) return problem;
  const name = textOf(bytes.subarray(NAME_AT));
  if (name === undefined) return 'the name is no UTF-8';
  return { uuid: head.uuid, host: ipFromGid(gid), port: head.port, transport: TRANSPORTS[head.transport], name };
}

/** What keeps an address from being that of one host. */
function hostProblem(gid: Gid): string | undefined {
  const version = isIpv4Gid(gid) ? 4 : 6;
  const address = version === 4 ? gid.subarray(12) : gid;
  if (address[0] >= FIRST_OF_GROUPS[version]) return 'the host is a group';
  return address.every((byte) => byte === 0) ? 'the host is none' : undefined;
}

function textOf(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}
