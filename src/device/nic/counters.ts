/**
 * What a NIC counts. Names of the first part are those of Linux's rxe (`rdma statistic`); the second part
 * says why packets were dropped, which rxe does silently.
 */
export class NicCounters {
  sentPkts = 0;
  rcvdPkts = 0;
  sentBytes = 0;
  rcvdBytes = 0;
  /** Requests that had been executed before. */
  duplicateRequest = 0;
  outOfSeqRequest = 0;
  rcvdRnrErr = 0;
  /** Requests that found no receive request. Of several in one burst one RNR NAK tells; the others are deferred. */
  sendRnrErr = 0;
  rcvdSeqErr = 0;
  /** ACKs that a later one of the same burst made needless. */
  ackDeferred = 0;
  retryExceededErr = 0;
  retryRnrExceededErr = 0;
  /** Times a requester went back to its oldest unacknowledged packet. */
  completerRetryErr = 0;
  /** Packets that could not be sent: the port was down, or the link refused them. */
  sendErr = 0;
  linkDowned = 0;
  rdmaSends = 0;
  rdmaRecvs = 0;
  completions = 0;
  /** Packets sent more than once. */
  retransmittedPkts = 0;

  /** Times an acknowledgement was asked for once more, long before the retry timer runs out. */
  lossProbes = 0;
  // Names of the next are those of mlx5. "np" is who gets packets and tells their sender of marks, "rp" who is told.
  /** Packets that came marked: they had met congestion. */
  npEcnMarkedRocePackets = 0;
  npCnpSent = 0;
  rpCnpHandled = 0;
  /** To queue pairs that cannot send less: those of other services, and in RTR. */
  rpCnpIgnored = 0;

  rxMalformed = 0;
  rxIcrcEncapsulated = 0;
  rxUnknownOpcode = 0;
  rxBadVersion = 0;
  /** `bad_pkey_cntr` of the port. */
  rxBadPkey = 0;
  /** `qkey_viol_cntr` of the port. */
  rxBadQkey = 0;
  rxPortDown = 0;
  /** Messages of unreliable services that found no receive request. */
  rxNoReceive = 0;
  /** Messages of unreliable services that were lost in part or made no sense. */
  rxMessageDropped = 0;
  rxUnknownQp = 0;
  rxWrongTransport = 0;
  rxWrongPeer = 0;
  rxWrongState = 0;
  /** Packets behind others that waited for memory, and found no room there. */
  rxMemoryBusy = 0;
  rxUnexpectedResponse = 0;
  rxBadDuplicate = 0;
  /** FLUSH requests with the ICRC that Linux's rxe gives them. */
  rxFlushHeadersTwice = 0;

  /** All counters under the names that tools print. */
  snapshot(): Record<string, number> {
    return {
      sent_pkts: this.sentPkts,
      rcvd_pkts: this.rcvdPkts,
      sent_bytes: this.sentBytes,
      rcvd_bytes: this.rcvdBytes,
      duplicate_request: this.duplicateRequest,
      out_of_seq_request: this.outOfSeqRequest,
      rcvd_rnr_err: this.rcvdRnrErr,
      send_rnr_err: this.sendRnrErr,
      rcvd_seq_err: this.rcvdSeqErr,
      ack_deferred: this.ackDeferred,
      retry_exceeded_err: this.retryExceededErr,
      retry_rnr_exceeded_err: this.retryRnrExceededErr,
      completer_retry_err: this.completerRetryErr,
      send_err: this.sendErr,
      link_downed: this.linkDowned,
      rdma_sends: this.rdmaSends,
      rdma_recvs: this.rdmaRecvs,
      completions: this.completions,
      retransmitted_pkts: this.retransmittedPkts,
      loss_probes: this.lossProbes,
      np_ecn_marked_roce_packets: this.npEcnMarkedRocePackets,
      np_cnp_sent: this.npCnpSent,
      rp_cnp_handled: this.rpCnpHandled,
      rp_cnp_ignored: this.rpCnpIgnored,
      rx_malformed: this.rxMalformed,
      rx_icrc_encapsulated: this.rxIcrcEncapsulated,
      rx_unknown_opcode: this.rxUnknownOpcode,
      rx_bad_version: this.rxBadVersion,
      rx_bad_pkey: this.rxBadPkey,
      rx_bad_qkey: this.rxBadQkey,
      rx_port_down: this.rxPortDown,
      rx_no_receive: this.rxNoReceive,
      rx_message_dropped: this.rxMessageDropped,
      rx_unknown_qp: this.rxUnknownQp,
      rx_wrong_transport: this.rxWrongTransport,
      rx_wrong_peer: this.rxWrongPeer,
      rx_wrong_state: this.rxWrongState,
      rx_memory_busy: this.rxMemoryBusy,
      rx_unexpected_response: this.rxUnexpectedResponse,
      rx_bad_duplicate: this.rxBadDuplicate,
      rx_flush_headers_twice: this.rxFlushHeadersTwice,
    };
  }
}
