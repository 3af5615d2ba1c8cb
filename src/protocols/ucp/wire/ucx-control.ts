import { type Gid, ipFromGid } from '../../../device/ibta/index.js';
import { struct, u32, u64, viewOf } from '../../../device/wire/index.js';
import { ANSWER, ASKER, BODY_AT, CONNECTION, CONNECTION_AT, CONTROL_BYTES, UdControlType } from './ud-control.js';

// The messages of UCX's ud by which its endpoints come to know each other, for those who look at its traffic. Ours say more behind that.

const HOST_AT = 20;
const HOST_BYTES = 16;
const PROCESS = struct({ process: u32 });
const PUT = struct({ address: u64 });

/** The flags of an address (uct/ib/base/ib_iface.h) and a GID; the path MTU, the GID's index and the P_Key may follow. */
const ADDRESS_BYTES = 17;
const MAX_ADDRESS_BYTES = ADDRESS_BYTES + 4;

/** Who sends a message of the handshake: for people. */
interface UcxSender {
  readonly host: string;
  readonly process: number;
}

export interface UcxConnectRequest extends UcxSender {
  readonly type: typeof UdControlType.CREQ;
  readonly qpn: number;
  readonly endpoint: number;
  readonly connection: number;
  readonly address: string;
}

export interface UcxConnectReply extends UcxSender {
  readonly type: typeof UdControlType.CREP;
  readonly endpoint: number;
}

/** The message that bytes are, or a sentence that says what is wrong with them. */
export function decodeUcxControl(bytes: Uint8Array): UcxConnectRequest | UcxConnectReply | string {
  if (bytes.length < CONTROL_BYTES) return `it has ${bytes.length} bytes, and ${CONTROL_BYTES} are needed`;
  const view = viewOf(bytes);
  const process = PROCESS.parse(view, HOST_AT + HOST_BYTES);
  if (typeof process === 'string') return process;
  const sender = { host: textOf(bytes.subarray(HOST_AT, HOST_AT + HOST_BYTES)), ...process };
  switch (bytes[0]) {
    case UdControlType.CREQ: {
      const asker = ASKER.parse(view, BODY_AT);
      if (typeof asker === 'string') return asker;
      const request = CONNECTION.parse(view, CONNECTION_AT);
      if (typeof request === 'string') return request;
      const addressBytes = bytes.length - CONTROL_BYTES;
      if (addressBytes < ADDRESS_BYTES || addressBytes > MAX_ADDRESS_BYTES)
        return `an address of ${addressBytes} bytes`;
      const gid: Gid = bytes.slice(CONTROL_BYTES + 1, CONTROL_BYTES + ADDRESS_BYTES);
      const { connection } = request;
      return { type: UdControlType.CREQ, ...asker, connection, address: ipFromGid(gid), ...sender };
    }
    case UdControlType.CREP: {
      if (bytes.length !== CONTROL_BYTES) return `${bytes.length - CONTROL_BYTES} bytes are left over`;
      const answer = ANSWER.parse(view, BODY_AT);
      return typeof answer === 'string' ? answer : { type: UdControlType.CREP, ...answer, ...sender };
    }
    default:
      return `the type is ${bytes[0]}, which is none`;
  }
}

/** A PUT of UCX's ud: to where, or a sentence that says what is wrong with it; what is written follows. */
export function decodeUcxPut(bytes: Uint8Array): { readonly address: bigint; readonly length: number } | string {
  const said = PUT.parse(viewOf(bytes), 0);
  return typeof said === 'string' ? said : { address: said.address, length: bytes.length - PUT.bytes };
}

/** Letters, digits and such, up to a zero: what comes from others is not to move anybody's cursor. */
function textOf(bytes: Uint8Array): string {
  const end = bytes.indexOf(0);
  const text = String.fromCharCode(...bytes.subarray(0, end < 0 ? bytes.length : end));
  return text.replace(/[^\x21-\x7e]/g, '?');
}
