import { type Context, type Cq, WcStatus, wcStatusStr } from '../../../entry/index.js';
import { ToolError } from '../../kit/errors.js';

/** A stream of messages, moved on step by step, since nothing else gets a turn while it runs. */
export interface Run {
  readonly over: boolean;
  /** Both sides are there; or, of runs without end, another period begins. */
  begin?(): void;
  /** Does what there is to do. @returns whether there was anything */
  step(): boolean;
  /** What has not come will not come any more. Only of those that can do without. */
  giveUp?(): void;
  /** The peer has left. @returns whether that is as good an end as any */
  part?(): boolean;
}

/** So many completions are taken at once. */
export const BATCH = 16;

export class FailedRequest extends ToolError {
  constructor(
    readonly status: WcStatus,
    message: string,
  ) {
    super(message);
  }
}

/** What fails so when the two sides do not do the same. */
const OF_DIFFERENCES: ReadonlySet<WcStatus> = new Set([
  WcStatus.LOC_LEN_ERR,
  WcStatus.REM_INV_REQ_ERR,
  WcStatus.REM_ACCESS_ERR,
  WcStatus.RETRY_EXC_ERR,
]);
const ADVICE =
  '\nBoth sides need the same tool and the same options; if they have them, what the peer printed may say more.';

/** @throws FailedRequest when the completion that a queue stands on is a failure, saying why */
export function expectSuccess(cq: Cq, context: Context): void {
  if (cq.status === WcStatus.SUCCESS) return;
  const { status, wrId } = cq;
  const why = context.explain(cq.workCompletion());
  const advice = OF_DIFFERENCES.has(status) ? ADVICE : '';
  cq.endPoll();
  throw new FailedRequest(
    status,
    `Completion with error: ${wcStatusStr(status)} (${status}) for wr_id ${wrId}: ${why}${advice}`,
  );
}

/** Waits so many microseconds at full attention. */
export function spin(microseconds: number): void {
  const end = performance.now() + microseconds / 1000;
  while (performance.now() < end);
}
