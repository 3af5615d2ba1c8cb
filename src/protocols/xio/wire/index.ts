/** What is said between ends of a session: pure functions over bytes. */
export { addressBytesOf, MAX_ADDRESS_BYTES, MAX_ADDRESSES, MAX_TEXT_BYTES } from './addresses.js';
export * from './body.js';
export {
  type Access,
  ANY_CONNECTION,
  decodeDirectRequest,
  decodeGrantToken,
  decodeMapped,
  DirectOperation,
  type DirectRequest,
  encodeDirectRequest,
  encodeGrantToken,
  encodeMapped,
  GRANT_ID_BYTES,
  GRANT_TOKEN_BYTES,
  type GrantToken,
  MOST_DIRECT_BYTES,
  type MoveOutcome,
  PLACE_BYTES,
} from './direct.js';
export { decodeHead, emptyHead, encodeHead, type Head, HEAD_BYTES, headerOf, TLV_BYTES, tokenOf } from './head.js';
export { Flag, Kind, type KindRules, rulesOf } from './kinds.js';
export {
  Action,
  decodeMove,
  decodeSetupAnswer,
  decodeSetupRequest,
  encodeMove,
  encodeSetupAnswer,
  encodeSetupRequest,
  EPOCH_BYTES,
  type Limits,
  limitsProblem,
  MAX_PRIVATE_BYTES,
  MOST_MOVE_BYTES,
  NO_LIMITS,
  SESSION_ID_BYTES,
  type SetupAnswer,
  type SetupRequest,
} from './setup.js';
export { statusName, XIO_BASE_STATUS, XioStatus, type XioStatusName } from './status.js';
