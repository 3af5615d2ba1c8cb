import { RecvWqe, recvQueueShape } from '../../nic/index.js';
import type { QpCap, QpType } from '../../spec/index.js';
import {
  type Address,
  isAddress,
  isU32,
  isWrId,
  PostError,
  type Problem,
  queueFullProblem,
  recvProblem,
  recvStateProblem,
  type RecvWr,
  type Sge,
  type WrId,
} from '../../verbs/index.js';
import { writeRecvHeader, writeSge, writeSgeList } from './entries.js';
import { WorkRing } from './work-ring.js';

const NO_PIECES: readonly Sge[] = [];

/** The driver's end of a receive queue. */
export class RecvQueue {
  readonly ring: WorkRing;

  constructor(
    private readonly type: QpType,
    private readonly cap: QpCap,
  ) {
    this.ring = new WorkRing(recvQueueShape(cap.maxRecvWr, cap.maxRecvSge), cap.maxRecvWr);
  }

  /**
   * Publishes requests up to the first that is refused.
   *
   * @throws PostError naming that one
   */
  post(wrs: readonly RecvWr[]): void {
    const refused = recvStateProblem(this.type, this.ring.state);
    for (let i = 0; i < wrs.length; i += 1) {
      const problem = refused ?? recvProblem(this.cap, wrs[i]) ?? this.#write(wrs[i]);
      if (problem === undefined) continue;
      if (this.ring.pending) this.ring.publish();
      throw new PostError('ibv_post_recv', problem, wrs[i], i);
    }
    this.ring.publish();
  }

  /** Publishes one request of one piece, without an object for it. @throws PostError when it is refused */
  postSge(wrId: WrId, lkey: number, addr: Address, length: number): void {
    if (this.cap.maxRecvSge > 0 && isWrId(wrId) && isU32(lkey) && isAddress(addr) && isU32(length)) {
      const refused = recvStateProblem(this.type, this.ring.state);
      const at = refused === undefined ? this.ring.reserve() : -1;
      if (at >= 0) {
        writeRecvHeader(this.ring.words, at, wrId, 1);
        writeSge(this.ring.words, at + RecvWqe.DATA, addr, length, lkey);
        this.ring.accept();
        this.ring.publish();
        return;
      }
    }
    // Whatever is wrong, the other style finds it and says so.
    this.post([{ wrId, sgList: [{ addr, length, lkey }] }]);
  }

  #write(wr: RecvWr): Problem | undefined {
    const at = this.ring.reserve();
    if (at < 0) return queueFullProblem('receive', this.cap.maxRecvWr);
    const pieces = wr.sgList ?? NO_PIECES;
    writeRecvHeader(this.ring.words, at, wr.wrId ?? 0, pieces.length);
    writeSgeList(this.ring.words, at + RecvWqe.DATA, pieces);
    this.ring.accept();
    return undefined;
  }
}
