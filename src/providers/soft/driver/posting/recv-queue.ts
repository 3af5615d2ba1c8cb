import type { QpCap, QpType } from '../../../../device/ibta/index.js';
import { recvQueueShape, RecvWqe } from '../../../../device/nic/index.js';
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
  srqRecvProblem,
  type WrId,
} from '../../../../api/verbs/index.js';
import { writeRecvHeader, writeSge, writeSgeList } from './entries.js';
import type { SpareRings } from './spare-rings.js';
import { WorkRing } from './work-ring.js';

const NO_PIECES: readonly Sge[] = [];

abstract class ReceiveRequests {
  readonly ring: WorkRing;

  constructor(
    private readonly call: string,
    private readonly maxSge: number,
    maxWr: number,
    private readonly spare: SpareRings,
  ) {
    this.ring = this.ringFor(maxWr);
  }

  protected ringFor(maxWr: number): WorkRing {
    return new WorkRing(recvQueueShape(maxWr, this.maxSge), maxWr, this.spare);
  }

  /** Why nothing can be posted now, or undefined. */
  protected abstract refusal(): Problem | undefined;
  /** Why a request makes no sense, or undefined. */
  protected abstract problemOf(wr: RecvWr): Problem | undefined;
  protected abstract fullProblem(): Problem;

  /**
   * Publishes requests up to the first that is refused.
   *
   * @throws PostError naming that one
   */
  post(wrs: readonly RecvWr[]): void {
    this.ring.rollBack();
    const refused = this.refusal();
    for (let i = 0; i < wrs.length; i += 1) {
      const problem = refused ?? this.problemOf(wrs[i]) ?? this.#write(wrs[i]);
      if (problem === undefined) continue;
      if (this.ring.pending) this.ring.publish();
      throw new PostError(this.call, problem, wrs[i], i);
    }
    this.ring.publish();
  }

  /** Publishes one request of one piece, without an object for it. @throws PostError when it is refused */
  postSge(wrId: WrId, lkey: number, addr: Address, length: number): void {
    if (this.maxSge > 0 && isWrId(wrId) && isU32(lkey) && isAddress(addr) && isU32(length)) {
      const { ring } = this;
      ring.rollBack();
      const at = this.refusal() === undefined ? ring.reserve() : -1;
      if (at >= 0) {
        writeRecvHeader(ring.words, at, wrId, 1);
        writeSge(ring.words, at + RecvWqe.DATA, addr, length, lkey);
        ring.accept();
        ring.publish();
        return;
      }
    }
    // Whatever is wrong, the other style finds it and says so.
    this.post([{ wrId, sgList: [{ addr, length, lkey }] }]);
  }

  #write(wr: RecvWr): Problem | undefined {
    const { ring } = this;
    const at = ring.reserve();
    if (at < 0) return this.fullProblem();
    const pieces = wr.sgList ?? NO_PIECES;
    writeRecvHeader(ring.words, at, wr.wrId ?? 0, pieces.length);
    writeSgeList(ring.words, at + RecvWqe.DATA, pieces);
    ring.accept();
    return undefined;
  }
}

/** The receive queue of one queue pair; an empty one where the queue pair takes from a shared queue. */
export class RecvQueue extends ReceiveRequests {
  constructor(
    private readonly type: QpType,
    private readonly cap: QpCap,
    private readonly shared: boolean,
    spare: SpareRings,
  ) {
    super('ibv_post_recv', cap.maxRecvSge, cap.maxRecvWr, spare);
  }

  protected refusal(): Problem | undefined {
    return recvStateProblem(this.type, this.ring.state, this.shared);
  }

  protected problemOf(wr: RecvWr): Problem | undefined {
    return recvProblem(this.cap, wr);
  }

  protected fullProblem(): Problem {
    return queueFullProblem('receive', this.cap.maxRecvWr);
  }
}

/** The requests of a shared receive queue, which no queue pair's state keeps anybody from posting. */
export class SharedRecvQueue extends ReceiveRequests {
  #maxWr: number;

  constructor(
    maxWr: number,
    private readonly pieces: number,
    spare: SpareRings,
  ) {
    super('ibv_post_srq_recv', pieces, maxWr, spare);
    this.#maxWr = maxWr;
  }

  get maxWr(): number {
    return this.#maxWr;
  }

  /**
   * Goes on in a ring for `maxWr` requests.
   *
   * @param adopt has the NIC copy what is posted to that memory; when it throws, nothing has changed
   */
  resize(maxWr: number, adopt: (memory: ArrayBufferLike) => void): void {
    const successor = this.ringFor(maxWr);
    adopt(successor.memory);
    this.ring.moveTo(successor);
    this.#maxWr = maxWr;
  }

  protected refusal(): undefined {
    return undefined;
  }

  protected problemOf(wr: RecvWr): Problem | undefined {
    return srqRecvProblem(this.pieces, wr);
  }

  protected fullProblem(): Problem {
    return queueFullProblem('shared receive', this.#maxWr);
  }
}
