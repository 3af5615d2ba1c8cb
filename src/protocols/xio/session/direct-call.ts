import { Pending } from '../../core/index.js';
import type { AccessRequest } from '../protocol/index.js';
import { type Clock, XioError } from '../transport/index.js';
import { type Body, statusName, XioStatus } from '../wire/index.js';
import type { XioDirectOptions } from '../api.js';

export interface DirectFields extends XioDirectOptions, Pick<AccessRequest, 'isRead' | 'id' | 'offset'> {
  readonly memory: Body;
}

const WHY: Readonly<Record<number, string>> = {
  [XioStatus.XIO_E_USER_OBJ_NOT_FOUND]: 'the peer has not shared that memory in this session, or does not any more',
  [XioStatus.XIO_E_READ_FAILED]: 'the peer does not let that memory be read',
  [XioStatus.XIO_E_WRITE_FAILED]: 'the peer does not let that memory be written',
  [XioStatus.XIO_E_REM_USER_BUF_OVERFLOW]: 'the memory that the peer has shared is shorter',
  [XioStatus.XIO_E_PEER_RESTARTED]: 'the server has begun anew, and has shared nothing',
  [XioStatus.XIO_E_NO_USER_BUFS]: 'the memory of this end is gone',
  [XioStatus.XIO_E_MSG_SIZE]: 'the memory is used by messages, and an end takes no bodies',
};

/** A read or a write of memory that the peer has shared, until it is done. */
export class DirectCall extends Pending<void> implements AccessRequest {
  readonly isRead: boolean;
  readonly id: Uint8Array;
  readonly offset: number;
  readonly memory: Body;
  #giveUp: () => boolean = () => false;
  #mayHaveRun = false;

  constructor(
    private readonly fields: DirectFields,
    private readonly onOver: () => void,
  ) {
    super(fields.isRead ? 'read' : 'write');
    ({ isRead: this.isRead, id: this.id, offset: this.offset, memory: this.memory } = fields);
  }

  begin(start: (request: AccessRequest) => () => boolean, clock: Clock | undefined): void {
    this.#giveUp = start(this);
    const { signal, deadlineMs: timeoutMs } = this.fields;
    if (!this.isSettled && clock !== undefined) this.bindCancellation({ signal, timeoutMs }, clock);
  }

  onDone(): void {
    this.resolve();
    this.onOver();
  }

  onFailed(status: XioStatus, mayHaveRun: boolean): void {
    const code =
      status === XioStatus.XIO_E_SUCCESS ? 'XIO_E_SESSION_CLOSED' : (statusName(status) ?? 'XIO_E_SESSION_ABORTED');
    this.reject(new XioError(code, `${this.call}: ${WHY[status] ?? 'the session has ended'}`, { mayHaveRun }));
    this.onOver();
  }

  protected onGivenUp(): void {
    this.#mayHaveRun = this.#giveUp();
    this.onOver();
  }

  protected override lateness(timeoutMs: number): Error {
    // It is asked for before it is given up: of a write nobody knows then.
    const mayHaveRun = this.#mayHaveRun || !this.isRead;
    return new XioError('XIO_E_TIMEOUT', `${this.call}: not done within ${timeoutMs} ms`, { mayHaveRun });
  }
}
