/** Why a datagram that has come was dropped. */
export type UdDrop =
  /** It is too short for a header, or has flags or a message that there is not. */
  | 'malformed'
  /** It is for an endpoint that there is not. */
  | 'unknownEndpoint'
  /** It comes from another address, or another queue pair, than its endpoint's peer. */
  | 'foreignSender'
  /** It acknowledges what was never sent. */
  | 'wrongAcknowledgement'
  | 'wrongPsn'
  /** It has come before. */
  | 'repeated'
  /** It came early, and no more of those are kept. */
  | 'tooEarly'
  /** It asks for a connection that there is not to be: nobody wants any, or there are too many. */
  | 'refused';

export interface UdStatistics {
  readonly dropped: Readonly<Record<UdDrop, number>>;
  readonly resent: number;
  /** Connections that were asked for, and never completed. */
  readonly halfOpenLost: number;
}

/** The same, as it grows. */
export class UdCounters implements UdStatistics {
  readonly dropped: Record<UdDrop, number> = {
    malformed: 0,
    unknownEndpoint: 0,
    foreignSender: 0,
    wrongAcknowledgement: 0,
    wrongPsn: 0,
    repeated: 0,
    tooEarly: 0,
    refused: 0,
  };
  resent = 0;
  halfOpenLost = 0;

  drop(why: UdDrop): void {
    this.dropped[why] += 1;
  }
}
