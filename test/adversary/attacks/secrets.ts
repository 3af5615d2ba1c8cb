import type { Testbed } from '../testbed.js';
import type { Secret } from '../knowledge.js';

/** The numbers that an adversary must guess. */
export class Secrets {
  readonly qpn: Readonly<Record<'rc' | 'uc' | 'ud' | 'xrc' | 'sending' | 'reading', Secret>>;
  readonly psn: Readonly<Record<'rc' | 'xrc' | 'sending' | 'reading', Secret>>;
  /** Keys that open memory to a connection with a friend, and to one of the adversary's. */
  readonly friendsKey: Secret;
  readonly guestsKey: Secret;
  /** Keys of windows that the peer could close. */
  readonly friendsWindow: Secret;
  readonly guestsWindow: Secret;
  readonly qkey: Secret;
  readonly srqn: Secret;
  readonly commId: Readonly<Record<'established' | 'asking' | 'agreed' | 'resolving', Secret>>;
  readonly peersCommId: Readonly<Record<'established' | 'agreed', Secret>>;
  readonly ownQpn: Secret;
  readonly friendQpn: Secret;

  constructor(testbed: Testbed) {
    const { friends, conversations, guest, guestSrq } = testbed;
    const ownQpns = (): number[] => testbed.guests.map(({ qp }) => qp.qpNum);
    const qpn = (number: number): Secret => ({ bits: 24, truths: () => [number], near: ownQpns });
    const psn = (post: { psn: number }): Secret => ({ bits: 24, truths: () => [post.psn] });
    const sent = (post: { sqPsn: number }): Secret => ({ bits: 24, truths: () => [post.sqPsn] });
    const keys = (): number[] => [testbed.windowRkey, testbed.lastWindowRkey, testbed.readable.rkey, testbed.gone.rkey];
    const commId = (number: number): Secret => ({ bits: 32, truths: () => [number] });
    this.qpn = {
      rc: qpn(friends.rc.qp.qpNum),
      uc: qpn(friends.uc.qp.qpNum),
      ud: qpn(friends.ud.qp.qpNum),
      xrc: qpn(friends.xrc.qp.qpNum),
      sending: qpn(testbed.sending.qp.qpNum),
      reading: qpn(testbed.reading.qp.qpNum),
    };
    this.psn = {
      rc: psn(friends.rc),
      xrc: psn(friends.xrc),
      sending: sent(testbed.sending),
      reading: sent(testbed.reading),
    };
    this.friendsKey = { bits: 32, truths: () => [testbed.main.rkey], near: keys };
    this.guestsKey = { bits: 32, truths: () => [testbed.roomy.rkey], near: keys };
    this.friendsWindow = { bits: 32, truths: () => [testbed.friendsWindow], near: keys };
    this.guestsWindow = { bits: 32, truths: () => [testbed.guestsWindow], near: keys };
    this.qkey = { bits: 32, truths: () => [friends.ud.qkey] };
    this.srqn = { bits: 24, truths: () => [friends.srq.srqNum], near: () => [guestSrq.srqNum, guest.qp.qpNum] };
    this.commId = {
      established: commId(conversations.established.commId),
      asking: commId(conversations.asking.commId),
      agreed: commId(conversations.agreed.commId),
      resolving: commId(conversations.resolving.commId),
    };
    this.peersCommId = {
      established: commId(conversations.established.peer.commId),
      agreed: commId(conversations.agreed.peer.commId),
    };
    this.ownQpn = qpn(conversations.ownQpn);
    this.friendQpn = qpn(conversations.friendQpn);
  }
}
