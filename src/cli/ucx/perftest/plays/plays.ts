import type { UcpTestName } from '../tests.js';
import { amBw, amLat } from './am.js';
import { atomicPlay } from './atomic.js';
import type { Play, PlayOf, Side } from './play.js';
import { get, putBw, putLat } from './rma.js';
import { streamBw, streamLat } from './stream.js';
import { tagBw, tagLat } from './tag.js';

const PLAYS: Readonly<Record<UcpTestName, PlayOf>> = {
  tag_lat: tagLat('tagSend'),
  tag_bw: tagBw('tagSend'),
  tag_sync_lat: tagLat('tagSendSync'),
  tag_sync_bw: tagBw('tagSendSync'),
  ucp_put_lat: putLat,
  ucp_put_bw: putBw,
  ucp_get: get,
  ucp_add: atomicPlay('add', false),
  ucp_fadd: atomicPlay('add', true),
  ucp_swap: atomicPlay('swap', true),
  ucp_cswap: atomicPlay('compareSwap', true),
  stream_bw: streamBw,
  stream_lat: streamLat,
  ucp_am_lat: amLat,
  ucp_am_bw: amBw,
};

/** What a side does in its test; undefined where it only holds out its memory. */
export function playOf(side: Side): Play | undefined {
  return PLAYS[side.test.name](side);
}
