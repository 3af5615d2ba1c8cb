import { gidFromIp } from '../../../../entry/index.js';
import { connect, type PairOptions, type Side } from './pair.js';
import type { EndInfo } from '../../../../node/hosting/test/programs.js';

/** What the peer needs to know. */
export function infoOf({ context, qp, mr }: Side): EndInfo {
  return { address: context.address, qpNum: qp.qpNum, addr: String(mr.addr), rkey: mr.rkey };
}

export function connectTo(side: Side, peer: EndInfo, options: PairOptions = {}): void {
  connect(side.qp, { qpNum: peer.qpNum, dgid: gidFromIp(peer.address) }, options);
}
