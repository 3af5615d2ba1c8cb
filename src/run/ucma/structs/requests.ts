/** Requests of the commands (`rdma_user_cm.h`), by the commands' names. */
import { i32, nested, octets, struct, u16, u32, u64, u8 } from '../../../device/wire/index.js';
import { CONN_PARAM } from './conn-param.js';
import { SOCKADDR } from './socket-address.js';

const RESPONSE = { response: u64(0) };
const WITH_RESPONSE = { ...RESPONSE, id: u32(8) };

/** Of most commands that have an answer. */
export const ID_WITH_RESPONSE = struct(WITH_RESPONSE);
export const ID = struct({ id: u32(0) });
export const NOTIFY = struct({ id: u32(0), event: u32(4) });
export const LISTEN = struct({ id: u32(0), backlog: i32(4) });
export const GET_EVENT = struct(RESPONSE);
export const CREATE_ID = struct({ uid: u64(0), response: u64(8), portSpace: u16(16), qpType: u8(18) }, 24);
export const INIT_QP_ATTR = struct({ ...WITH_RESPONSE, qpState: u32(12) });
export const MIGRATE_ID = struct({ ...WITH_RESPONSE, fd: i32(12) });
export const SET_OPTION = struct({ value: u64(0), id: u32(8), level: u32(12), name: u32(16), length: u32(20) });

export const RESOLVE_ROUTE = struct({ id: u32(0), timeoutMs: u32(4) });
export const CONNECT = struct({ param: nested(0, CONN_PARAM), id: u32(272) });
export const ACCEPT = struct({ uid: u64(0), param: nested(8, CONN_PARAM), id: u32(280) });
export const REJECT = struct({ id: u32(0), privateDataLen: u8(4), privateData: octets(8, 256) });

// Those with addresses come in two forms: with room for either version of IP, and with room for any address.
export const BIND_IP = struct({ addr: nested(8, SOCKADDR), id: u32(36) });
export const BIND = struct({ id: u32(0), addr: nested(8, SOCKADDR) }, 136);
export const RESOLVE_IP = struct({
  source: nested(0, SOCKADDR),
  to: nested(28, SOCKADDR),
  id: u32(56),
  timeoutMs: u32(60),
});
export const RESOLVE_ADDR = struct(
  { id: u32(0), timeoutMs: u32(4), source: nested(16, SOCKADDR), to: nested(144, SOCKADDR) },
  272,
);
export const JOIN_IP_MCAST = struct({ ...RESPONSE, uid: u64(8), addr: nested(16, SOCKADDR), id: u32(44) });
export const JOIN_MCAST = struct({ ...RESPONSE, uid: u64(8), id: u32(16), addr: nested(24, SOCKADDR) }, 152);
