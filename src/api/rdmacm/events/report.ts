import type { CmEventType } from '../../../device/ibta/index.js';
import { invalid, VerbsError } from '../../verbs/index.js';
import type { Dispatcher } from './dispatcher.js';
import type { CmEvent, CmId } from '../objects.js';

/** An identifier, as its events see it. */
export interface Reporter {
  /** Of its devices: one, or where it listens on all devices as many as there are. */
  readonly dispatchers: readonly Dispatcher[];
  /** How an error names it: `the identifier that listens at 10.0.0.1:7174`. */
  readonly label: string;
  /** Events of it that were taken and not acknowledged. */
  unacknowledged: number;
}

/** What an event is made of. */
export interface ReportFields {
  readonly id: CmId;
  readonly event: CmEventType;
  readonly status?: number;
  readonly listenId?: CmId;
  readonly param?: CmEvent['param'];
  readonly multicastContext?: unknown;
  readonly error?: VerbsError;
  /** Called when the program takes the event. */
  readonly onTaken?: () => void;
}

const NOTHING = {};

/** An event, and whose it is: that of CONNECT_REQUEST is the listener's. */
export class Report implements CmEvent {
  readonly id: CmId;
  readonly listenId: CmId | undefined;
  readonly event: CmEventType;
  readonly status: number;
  readonly param: CmEvent['param'];
  readonly multicastContext: unknown;
  readonly error: VerbsError | undefined;

  readonly #onTaken: (() => void) | undefined;
  #state: 'waiting' | 'taken' | 'acknowledged' = 'waiting';

  constructor(
    readonly reporter: Reporter,
    fields: ReportFields,
    /** Whatever else may be ended only once the event is acknowledged. */
    readonly also?: Pick<Reporter, 'unacknowledged'>,
  ) {
    this.id = fields.id;
    this.listenId = fields.listenId;
    this.event = fields.event;
    this.status = fields.status ?? 0;
    this.param = fields.param ?? NOTHING;
    this.multicastContext = fields.multicastContext;
    this.error = fields.error;
    this.#onTaken = fields.onTaken;
  }

  taken(): void {
    this.#state = 'taken';
    this.#count(1);
    this.#onTaken?.();
  }

  ack(): void {
    if (this.#state === 'acknowledged')
      throw new VerbsError('rdma_ack_cm_event', invalid('the event was acknowledged before', 'Once is enough'));
    if (this.#state === 'taken') this.#count(-1);
    this.#state = 'acknowledged';
  }

  /** As {@link ack}, but it may have been acknowledged before. */
  settle(): void {
    if (this.#state !== 'acknowledged') this.ack();
  }

  #count(change: 1 | -1): void {
    this.reporter.unacknowledged += change;
    if (this.also !== undefined) this.also.unacknowledged += change;
  }
}
