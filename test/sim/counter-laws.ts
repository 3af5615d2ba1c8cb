import { check } from './failure.js';
import type { HostPackets } from './packet-book.js';
import type { Polled } from './polled.js';

/** What is known of one host at the end of a run, from outside of its NIC, and what that has counted. */
export interface HostAccount {
  readonly name: string;
  readonly counters: Readonly<Record<string, number>>;
  readonly packets: HostPackets;
  readonly polled: Polled;
}

/** What some counters of a NIC, taken together, must come to. */
export interface Law<A extends HostAccount> {
  readonly counters: readonly string[];
  readonly are: '=' | '<=' | '>=';
  readonly what: string;
  readonly of: (account: A) => number;
  /** Which hosts it holds for; default all. */
  readonly where?: (account: A) => boolean;
}

/** Sums of counters that are there: a law about one that was renamed must not hold by accident. */
function sum({ counters }: HostAccount, names: readonly string[]): number {
  return names.reduce((total, name) => {
    check(name in counters, () => `there is no counter ${name}`);
    return total + counters[name];
  }, 0);
}

/** Packets that are looked at no further, for what they are or where they go. */
const DROPPED = ['rx_unknown_qp', 'rx_wrong_transport', 'rx_bad_pkey', 'rx_wrong_state', 'rx_wrong_peer'];

/** Of packets, whatever programs do, and whatever becomes of the host. */
export const packetLaws: readonly Law<HostAccount>[] = [
  // Every packet, byte by byte.
  { counters: ['sent_pkts'], are: '=', what: 'packets that the network got', of: ({ packets }) => packets.sentPackets },
  { counters: ['sent_bytes'], are: '=', what: 'bytes that the network got', of: ({ packets }) => packets.sentBytes },
  {
    counters: ['rcvd_pkts'],
    are: '=',
    what: 'packets that the network brought',
    of: ({ packets }) => packets.takenPackets,
  },
  {
    counters: ['rcvd_bytes'],
    are: '=',
    what: 'bytes that the network brought',
    of: ({ packets }) => packets.takenBytes,
  },
  {
    counters: ['rx_malformed', 'rx_unknown_opcode', 'rx_bad_version', 'rx_icrc_encapsulated'],
    are: '=',
    what: 'packets that came damaged',
    of: ({ packets }) => packets.damaged,
  },
  {
    counters: ['send_err', 'link_downed', 'rx_port_down', 'rx_bad_pkey'],
    are: '=',
    what: 'ports that went down and P_Keys that changed',
    of: () => 0,
  },
  // What came whole is what it is.
  {
    counters: ['rx_unexpected_response'],
    are: '<=',
    what: 'responses that came',
    of: ({ packets: { taken } }) => taken.answer + taken.ack + taken.rnrNak + taken.sequenceNak + taken.refusal,
  },
  {
    counters: ['duplicate_request', 'out_of_seq_request'],
    are: '<=',
    what: 'requests that came',
    of: ({ packets: { taken } }) => taken.request + taken.unacknowledged,
  },
  { counters: ['rx_bad_duplicate'], are: '<=', what: 'repeats', of: (account) => sum(account, ['duplicate_request']) },
  { counters: ['rcvd_rnr_err'], are: '<=', what: 'RNR NAKs that came', of: ({ packets }) => packets.taken.rnrNak },
  {
    counters: ['rcvd_seq_err'],
    are: '<=',
    what: 'NAKs of the sequence that came',
    of: ({ packets }) => packets.taken.sequenceNak,
  },
  {
    counters: ['rcvd_rnr_err', 'rcvd_seq_err', 'rx_unexpected_response', ...DROPPED],
    are: '>=',
    what: 'NAKs that came',
    of: ({ packets: { taken } }) => taken.rnrNak + taken.sequenceNak,
  },
  {
    counters: ['np_ecn_marked_roce_packets'],
    are: '<=',
    what: 'packets that came marked',
    of: ({ packets }) => packets.marked,
  },
  {
    counters: ['rp_cnp_handled', 'rp_cnp_ignored'],
    are: '<=',
    what: 'notifications that came',
    of: ({ packets }) => packets.taken.notification,
  },
  {
    counters: ['rp_cnp_handled', 'rp_cnp_ignored', ...DROPPED],
    are: '>=',
    what: 'notifications that came',
    of: ({ packets }) => packets.taken.notification,
  },
  // What was sent because of it.
  { counters: ['np_cnp_sent'], are: '=', what: 'notifications sent', of: ({ packets }) => packets.sent.notification },
  { counters: ['np_cnp_sent'], are: '<=', what: 'packets that came marked', of: ({ packets }) => packets.marked },
  { counters: ['send_rnr_err'], are: '>=', what: 'RNR NAKs sent', of: ({ packets }) => packets.sent.rnrNak },
  {
    counters: ['out_of_seq_request'],
    are: '>=',
    what: 'NAKs of the sequence sent',
    of: ({ packets }) => packets.sent.sequenceNak,
  },
  { counters: ['retransmitted_pkts'], are: '<=', what: 'requests sent', of: ({ packets }) => packets.sent.request },
  {
    counters: ['ack_deferred'],
    are: '<=',
    what: 'requests that came less the acknowledgements sent',
    of: ({ packets: { taken, sent } }) => taken.request - sent.ack - sent.rnrNak - sent.sequenceNak - sent.refusal,
  },
];

/** Of completions, when all of a host were polled, but for those that were lost with a queue that was full. */
export const completionLaws: readonly Law<HostAccount>[] = [
  { counters: ['completions'], are: '>=', what: 'completions polled', of: ({ polled }) => polled.all },
  {
    counters: ['completions'],
    are: '=',
    what: 'completions polled',
    of: ({ polled }) => polled.all,
    where: ({ polled }) => !polled.lossy,
  },
  { counters: ['rdma_sends'], are: '>=', what: 'completions of SENDs', of: ({ polled }) => polled.sends },
  {
    counters: ['rdma_recvs'],
    are: '=',
    what: 'completions of receives',
    of: ({ polled }) => polled.receives,
    where: ({ polled }) => !polled.lossy,
  },
  {
    counters: ['retry_exceeded_err'],
    are: '=',
    what: 'requests that ended in RETRY_EXC_ERR',
    of: ({ polled }) => polled.timeouts,
    where: ({ polled }) => !polled.lossy,
  },
  {
    counters: ['retry_rnr_exceeded_err'],
    are: '=',
    what: 'requests that ended in RNR_RETRY_EXC_ERR',
    of: ({ polled }) => polled.notReady,
    where: ({ polled }) => !polled.lossy,
  },
];

/** Holds the counters of one host against the laws. */
export function checkLaws<A extends HostAccount>(laws: readonly Law<A>[], account: A): void {
  for (const { counters, are, what, of, where } of laws) {
    if (where?.(account) === false) continue;
    const counted = sum(account, counters);
    const seen = of(account);
    const holds = are === '=' ? counted === seen : are === '<=' ? counted <= seen : counted >= seen;
    check(
      holds,
      () => `${account.name}: ${counters.join(' + ')} ${counted}, which must be ${are} ${seen}, the ${what}`,
    );
  }
}
