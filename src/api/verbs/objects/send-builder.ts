import type { SelectivityLevel } from '../../../device/ibta/index.js';
import type { Address, WrId } from '../address.js';
import type { Sge } from './work-request.js';

/** The calls that build send requests without naming another object. */
export interface SendBuilderCalls {
  /**
   * Begins a batch of send requests. For each: {@link wrId} and {@link wrFlags} (both keep their values until set
   * anew), then one of `wrSend` to `wrAtomicWrite`, then its data by one of `wrSetSge`, `wrSetSgeList`,
   * `wrSetInlineData`, `wrSetInlineDataList`, or none for a message of length zero; on UD also `wrSetUdAddr`, on
   * XRC_SEND `wrSetXrcSrqn`. Nothing is sent before {@link wrComplete}.
   *
   * Mistakes in between are kept, and thrown by wrComplete; so is a request that `QpInitAttr.sendOpsFlags` leaves out.
   *
   * @throws VerbsError EINVAL when a batch is open already, or after destroy
   */
  wrStart(): void;

  /** Id of the requests that follow; 0 after wrStart. */
  set wrId(wrId: WrId);
  /** `SendFlags` of the requests that follow, 0 after wrStart; INLINE is set by wrSetInlineData alone. */
  set wrFlags(sendFlags: number);
  wrSend(): void;
  wrSendImm(immData: number): void;
  wrSendInv(invalidateRkey: number): void;
  wrRdmaWrite(rkey: number, remoteAddr: Address): void;
  wrRdmaWriteImm(rkey: number, remoteAddr: Address, immData: number): void;
  wrRdmaRead(rkey: number, remoteAddr: Address): void;
  wrAtomicCmpSwp(rkey: number, remoteAddr: Address, compare: Address, swap: Address): void;
  wrAtomicFetchAdd(rkey: number, remoteAddr: Address, add: Address): void;
  /** Closes a key of our own: a region's or a type 2 window's. */
  wrLocalInv(invalidateRkey: number): void;
  /** `type`: bits of `PlacementType`. */
  wrFlush(rkey: number, remoteAddr: Address, length: number, type: number, level: SelectivityLevel): void;
  /** `data`: 8 bytes, which are taken at once, as they lie in memory. */
  wrAtomicWrite(rkey: number, remoteAddr: Address, data: Uint8Array): void;
  /** TCP segmentation, which this device does not have: a mistake with EOPNOTSUPP. */
  wrSendTso(header?: Uint8Array, mss?: number): void;
  /** XRC_SEND: the SRQ that the request is for. */
  wrSetXrcSrqn(remoteSrqn: number): void;
  wrSetSge(lkey: number, addr: Address, length: number): void;
  wrSetSgeList(sgList: readonly Sge[]): void;
  /** Takes the bytes at once, whether registered or not; at most `cap.maxInlineData`. */
  wrSetInlineData(bytes: Uint8Array): void;
  /** As {@link wrSetInlineData}, of several pieces one after the other. */
  wrSetInlineDataList(list: readonly Uint8Array[]): void;

  /**
   * Posts the whole batch, or nothing of it.
   *
   * @throws VerbsError for the first mistake since wrStart, EINVAL or ENOMEM as `Qp.postSend`; the batch is gone
   */
  wrComplete(): void;

  /** Forgets the batch. */
  wrAbort(): void;
}
