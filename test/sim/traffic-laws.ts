import type { HostAccount, Law } from './counter-laws.js';
import type { RequestBook } from './request-book.js';

/** What is known besides where programs are in good order and their requests are planned. */
export interface TrafficAccount extends HostAccount {
  /** The host died in the midst of it. */
  readonly dead: boolean;
  /** The network brought every packet, once and in order. */
  readonly perfect: boolean;
  /** And all requesters always heard what they waited for. */
  readonly undisturbed: boolean;
  /** Whether queue pairs are here of the reliable services, and of UC. */
  readonly has: { readonly reliable: boolean; readonly unacknowledged: boolean };
  /** No connection of the host has come to a bad end, so that no queue pair left the states in which it takes packets. */
  readonly sound: boolean;
  /** Requests of its own reliable queue pairs, and of those of its peers. */
  readonly asked: readonly RequestBook[];
  readonly askedOf: readonly RequestBook[];
  /** SENDs that have succeeded, signalled or not. */
  readonly sends: number;
  /** Of the messages of unreliable services that peers sent here: those received as datagrams, and those that never came. */
  readonly datagrams: number;
  readonly lost: number;
  /** Datagrams that came with a wrong Q_Key, and WRITEs of UC to memory that is not open. */
  readonly wrongQkeys: number;
  readonly misdirectedWrites: number;
  readonly ofQueuePairs: Readonly<Record<string, number>>;
}

/** A counter that queue pairs have as well: what they have counted adds up to what the device has. */
function addsUp(name: string): Law<TrafficAccount> {
  return {
    counters: [name],
    are: '=',
    what: 'sum over queue pairs',
    of: ({ ofQueuePairs, has }) => ofQueuePairs[name] ?? (has.reliable ? NaN : 0),
  };
}

function total(books: readonly RequestBook[], what: 'fresh' | 'repeats' | 'acknowledgeable'): number {
  return books.reduce((sum, book) => sum + book[what], 0);
}

/** Of programs that do nothing wrong but what was planned. */
export const trafficLaws: readonly Law<TrafficAccount>[] = [
  addsUp('retransmitted_pkts'),
  addsUp('loss_probes'),
  addsUp('completer_retry_err'),
  addsUp('rp_cnp_handled'),
  {
    counters: ['retransmitted_pkts'],
    are: '=',
    what: 'requests that were on the wire before',
    of: ({ asked }) => total(asked, 'repeats'),
  },
  {
    counters: ['rdma_sends'],
    are: '=',
    what: 'SENDs that succeeded',
    of: ({ sends }) => sends,
    where: ({ dead }) => !dead,
  },
  {
    counters: ['rx_unknown_qp', 'rx_wrong_transport', 'rx_wrong_peer'],
    are: '=',
    what: 'packets that went astray',
    of: () => 0,
  },
  { counters: ['rx_bad_qkey'], are: '=', what: 'datagrams with a wrong Q_Key', of: ({ wrongQkeys }) => wrongQkeys },
  {
    counters: ['rx_no_receive', 'rx_message_dropped', 'rx_memory_busy'],
    are: '=',
    what: 'datagrams that came and were not received',
    of: ({ packets, wrongQkeys, datagrams }) => packets.taken.datagram - wrongQkeys - datagrams,
    // A host that dies may be about to copy one to memory that takes long.
    where: ({ has, dead }) => !has.unacknowledged && !dead,
  },
  {
    counters: ['rx_no_receive'],
    are: '=',
    what: 'unreliable messages that were lost where the network lost none',
    of: ({ lost }) => lost,
    where: ({ perfect }) => perfect,
  },
  {
    counters: ['rx_message_dropped'],
    are: '=',
    what: 'WRITEs to memory that is not open to UC',
    of: ({ misdirectedWrites }) => misdirectedWrites,
    where: ({ perfect }) => perfect,
  },
  // Where all is in good order, every request is carried out once, and whatever else came is counted for what it was.
  {
    counters: ['duplicate_request', 'out_of_seq_request', 'send_rnr_err'],
    are: '=',
    what: 'requests that came and were not carried out',
    of: ({ packets, askedOf }) => packets.taken.request - total(askedOf, 'fresh'),
    where: ({ sound, has }) => sound && !has.unacknowledged,
  },
  {
    counters: ['rx_wrong_state'],
    are: '=',
    what: 'packets in a wrong state',
    of: () => 0,
    where: ({ sound }) => sound,
  },
  {
    counters: ['np_ecn_marked_roce_packets'],
    are: '=',
    what: 'packets that came marked',
    of: ({ packets }) => packets.marked,
    where: ({ sound }) => sound,
  },
  {
    counters: ['send_rnr_err'],
    are: '<=',
    what: 'RNR NAKs sent or deferred',
    of: ({ packets, counters }) => packets.sent.rnrNak + counters['ack_deferred'],
    where: ({ sound }) => sound,
  },
  // Where nothing is lost and nobody has to wait, nothing is amiss.
  {
    counters: ['completer_retry_err'],
    are: '=',
    what: 'times that something was lost',
    of: () => 0,
    where: ({ undisturbed }) => undisturbed,
  },
  {
    counters: ['rx_bad_duplicate'],
    are: '=',
    what: 'repeats that made no sense',
    of: () => 0,
    where: ({ undisturbed }) => undisturbed,
  },
  {
    counters: ['out_of_seq_request', 'rcvd_seq_err'],
    are: '=',
    what: 'gaps',
    of: () => 0,
    where: ({ undisturbed, packets }) => undisturbed && packets.sent.rnrNak === 0 && packets.taken.rnrNak === 0,
  },
  {
    counters: ['ack_deferred'],
    are: '=',
    what: 'acknowledgements that were due and not sent',
    of: ({ packets, askedOf }) => total(askedOf, 'acknowledgeable') - packets.sent.ack,
    where: ({ undisturbed, packets }) => undisturbed && packets.sent.rnrNak === 0,
  },
];
