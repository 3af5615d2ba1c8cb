import type { CmEvent, UdParamReceived } from '../../../../api/rdmacm/index.js';
import { AH_ATTR_BYTES, writeAhAttr } from './address-handle.js';
import { writeConnParam } from './conn-param.js';
import { type Fields, writeFields } from './fields.js';

const EVENT_BYTES = 336;
const UID_AT = 0;
const STATUS_AT = 16;
const PARAM_AT = 20;

const HEAD: Fields<'id' | 'event'> = { id: { at: 8, bytes: 4 }, event: { at: 12, bytes: 4 } };

const UD_AH_ATTR_AT = 8;
const UD_PRIVATE_DATA_AT = UD_AH_ATTR_AT + AH_ATTR_BYTES;
const UD: Fields<'qpNum' | 'qkey' | 'privateDataLen'> = {
  qpNum: { at: 0, bytes: 4 },
  qkey: { at: 4, bytes: 4 },
  privateDataLen: { at: 296, bytes: 1 },
};

function writeUdParam(bytes: Buffer, at: number, { privateData, ahAttr, ...others }: UdParamReceived): void {
  writeFields(UD, bytes, at, { ...others, privateDataLen: privateData.length });
  writeAhAttr(bytes, at + UD_AH_ATTR_AT, ahAttr);
  bytes.set(privateData, at + UD_PRIVATE_DATA_AT);
}

/**
 * `struct rdma_ucm_event_resp`.
 *
 * @param uid by which the program knows whom it concerns
 * @param id our number of that
 */
export function encodeEvent(uid: bigint, id: number, { event, status, param }: CmEvent): Buffer {
  const bytes = Buffer.alloc(EVENT_BYTES);
  bytes.writeBigUInt64LE(uid, UID_AT);
  writeFields(HEAD, bytes, 0, { id, event });
  bytes.writeInt32LE(status, STATUS_AT);
  if (param.conn !== undefined) writeConnParam(bytes, PARAM_AT, param.conn);
  else if (param.ud !== undefined) writeUdParam(bytes, PARAM_AT, param.ud);
  return bytes;
}
