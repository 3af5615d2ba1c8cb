import { type SelectivityLevel, WrOpcode } from '../../../../device/ibta/index.js';
import type { Address, Ah, Mw, MwBindInfo, SendBuilder, Sge, WrId } from '../../../../api/verbs/index.js';
import { SoftQpBase } from './qp-base.js';
import type { SendBatch } from './send-batch.js';

/** The calls of a queue pair that build send requests one after the other: each hands on to the batch that is open. */
export abstract class BuildingQp extends SoftQpBase implements SendBuilder {
  protected abstract readonly batch: SendBatch;

  protected abstract beginPost(): void;

  /** It was: the NIC is told of new send requests, where there are any. */
  protected abstract endPost(posted: boolean): void;

  wrStart(): void {
    this.assertAlive('ibv_wr_start');
    this.batch.start();
  }

  set wrId(wrId: WrId) {
    this.batch.setWrId(wrId);
  }

  set wrFlags(sendFlags: number) {
    this.batch.setFlags(sendFlags);
  }

  wrSend(): void {
    this.batch.send();
  }

  wrSendImm(immData: number): void {
    this.batch.sendWith(WrOpcode.SEND_WITH_IMM, immData);
  }

  wrSendInv(invalidateRkey: number): void {
    this.batch.sendWith(WrOpcode.SEND_WITH_INV, invalidateRkey);
  }

  wrRdmaWrite(rkey: number, remoteAddr: Address): void {
    this.batch.rdma(WrOpcode.RDMA_WRITE, rkey, remoteAddr);
  }

  wrRdmaWriteImm(rkey: number, remoteAddr: Address, immData: number): void {
    this.batch.writeImm(rkey, remoteAddr, immData);
  }

  wrRdmaRead(rkey: number, remoteAddr: Address): void {
    this.batch.rdma(WrOpcode.RDMA_READ, rkey, remoteAddr);
  }

  wrAtomicCmpSwp(rkey: number, remoteAddr: Address, compare: Address, swap: Address): void {
    this.batch.compareAndSwap(rkey, remoteAddr, compare, swap);
  }

  wrAtomicFetchAdd(rkey: number, remoteAddr: Address, add: Address): void {
    this.batch.fetchAndAdd(rkey, remoteAddr, add);
  }

  wrBindMw(mw: Mw, rkey: number, bindInfo: MwBindInfo): void {
    this.batch.bind(mw, rkey, bindInfo);
  }

  wrLocalInv(invalidateRkey: number): void {
    this.batch.sendWith(WrOpcode.LOCAL_INV, invalidateRkey);
  }

  wrFlush(rkey: number, remoteAddr: Address, length: number, type: number, level: SelectivityLevel): void {
    this.batch.flush(rkey, remoteAddr, length, type, level);
  }

  wrAtomicWrite(rkey: number, remoteAddr: Address, data: Uint8Array): void {
    this.batch.atomicWrite(rkey, remoteAddr, data);
  }

  wrSendTso(): void {
    this.batch.tso();
  }

  wrSetUdAddr(ah: Ah, remoteQpn: number, remoteQkey: number): void {
    this.batch.setUdAddr(ah, remoteQpn, remoteQkey);
  }

  wrSetXrcSrqn(remoteSrqn: number): void {
    this.batch.setXrcSrqn(remoteSrqn);
  }

  wrSetSge(lkey: number, addr: Address, length: number): void {
    this.batch.setSge(lkey, addr, length);
  }

  wrSetSgeList(sgList: readonly Sge[]): void {
    this.batch.setSgeList(sgList);
  }

  wrSetInlineData(bytes: Uint8Array): void {
    this.batch.setInlineData(bytes);
  }

  wrSetInlineDataList(list: readonly Uint8Array[]): void {
    this.batch.setInlineDataList(list);
  }

  wrComplete(): void {
    this.assertAlive('ibv_wr_complete');
    this.beginPost();
    let posted = false;
    try {
      posted = this.batch.complete();
    } finally {
      this.endPost(posted);
    }
  }

  wrAbort(): void {
    this.assertAlive('ibv_wr_abort');
    this.batch.abort();
  }
}
