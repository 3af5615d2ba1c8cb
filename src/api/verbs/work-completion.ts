import type { WcOpcode, WcStatus } from '../../device/ibta/index.js';

/**
 * `struct ibv_wc`: one work request has ended. When `status` is not SUCCESS only `wrId`, `status`, `qpNum`,
 * `vendorErr` and `detail` mean something (protocol/reliable.md 2.10); `Context.explain` puts them into a sentence.
 */
export interface WorkCompletion {
  /** The request's id, 0n to 2^64 - 1. */
  readonly wrId: bigint;
  readonly status: WcStatus;
  readonly opcode: WcOpcode;
  /** Why, when `status` is not SUCCESS, in numbers of the device's maker: of the software NIC a value of `Syndrome`; else 0. */
  readonly vendorErr: number;
  /** Bytes of the message. */
  readonly byteLen: number;
  /** Valid with `WcFlags.WITH_IMM`: 0 to 2^32 - 1, the number that the peer gave. */
  readonly immData: number;
  /** Valid with `WcFlags.WITH_INV`: the R_Key that the peer has closed. */
  readonly invalidatedRkey: number;
  /** Our QP that completed. */
  readonly qpNum: number;
  /** UD: the peer's QP. */
  readonly srcQp: number;
  /** Bits of `WcFlags`. */
  readonly wcFlags: number;
  /** Index of the P_Key that a datagram came with. */
  readonly pkeyIndex: number;
  /** 0 on RoCE. */
  readonly slid: number;
  /** Service level, 0 to 15. */
  readonly sl: number;
  /** 0 on RoCE. */
  readonly dlidPathBits: number;
  /**
   * When it completed: ticks of the device's clock, which `DeviceAttrEx.hcaCoreClock` tells. There when the CQ was made
   * with `WcExFlags.WITH_COMPLETION_TIMESTAMP` or its WALLCLOCK and `status` is SUCCESS.
   */
  readonly completionTimestamp?: bigint;
  /** The numbers that belong to `vendorErr`; of the software NIC each value of `Syndrome` says which. */
  readonly detail: readonly number[];
  /** The peer's address, where the provider knows it: `127.0.0.2`. */
  readonly peer?: string;
}
