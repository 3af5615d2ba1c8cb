import type { CmEvent, UdParamReceived } from '../../../api/rdmacm/index.js';
import { AH_ATTR, destinationOf } from '../../structs/addresses.js';
import { i32, nested, octets, struct, u32, u64, u8, type ValuesOf, type Writable } from '../../../device/wire/index.js';
import { CONN_PARAM, connParamFor } from './conn-param.js';

/** `struct rdma_ucm_ud_param`. */
const UD_PARAM = struct({
  qpNum: u32(0),
  qkey: u32(4),
  ahAttr: nested(8, AH_ATTR),
  privateData: octets(40, 256),
  privateDataLen: u8(296),
});

/** Of a connection or of datagrams, at the same place. */
const PARAM_AT = 20;

/** `struct rdma_ucm_event_resp`. */
export const EVENT = struct(
  {
    uid: u64(0),
    id: u32(8),
    event: u32(12),
    status: i32(16),
    conn: nested(PARAM_AT, CONN_PARAM),
    ud: nested(PARAM_AT, UD_PARAM),
  },
  336,
);

function udParamFor({ ahAttr, ...others }: UdParamReceived): ValuesOf<typeof UD_PARAM> {
  return { ...others, privateDataLen: others.privateData.length, ahAttr: destinationOf(ahAttr) };
}

/**
 * An event as a program gets it.
 *
 * @param uid by which the program knows whom it concerns
 * @param id our number of that
 */
export function eventFor(uid: bigint, id: number, { event, status, param }: CmEvent): EventValues {
  const { conn, ud } = param;
  return {
    ...{ uid, id, event, status },
    ...(conn === undefined ? {} : { conn: connParamFor(conn) }),
    ...(ud === undefined ? {} : { ud: udParamFor(ud) }),
  };
}

/** What of {@link EVENT} there is. */
export type EventValues = Writable<ValuesOf<typeof EVENT>>;
