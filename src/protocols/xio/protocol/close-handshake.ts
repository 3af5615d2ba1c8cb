/** The handshake by which two ends close a connection, or move to another one. */
export class CloseHandshake {
  #fin: 'none' | 'due' | 'sent' | 'acknowledged' = 'none';
  /** The peer has said FIN. */
  hasHeard = false;
  /** This end begins nothing any more. */
  isFinishing = false;
  /** The server has sent the session on: what waits is for another. */
  isMoving = false;

  /** Whether this end is to say FIN: it has not, and begins nothing with this peer. @param waiting what was not sent yet */
  isWanted(waiting: number): boolean {
    return this.#fin === 'none' && (this.isMoving || (this.isFinishing && waiting === 0));
  }

  /** Whether both ends have said FIN, though this one may not know that the peer has heard it. */
  get areBothDone(): boolean {
    return (this.#fin === 'sent' || this.#fin === 'acknowledged') && this.hasHeard;
  }

  /** Whether the peer has heard it, and has said it. */
  get isKnown(): boolean {
    return this.#fin === 'acknowledged' && this.hasHeard;
  }

  due(): void {
    this.#fin = 'due';
  }

  sent(): void {
    this.#fin = 'sent';
  }

  acknowledged(): void {
    this.#fin = 'acknowledged';
  }

  /** There is another peer, to whom nothing was said. */
  restart(): void {
    this.#fin = 'none';
    this.hasHeard = false;
    this.isMoving = false;
  }
}
