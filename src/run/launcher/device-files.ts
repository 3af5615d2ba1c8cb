import type { Calls } from '../notifications/blocked-calls.js';
import type { GuestDevice } from './guest-devices.js';
import type { GuestFile } from '../processes/guest-files.js';
import type { FailureReport } from '../reports/failure-report.js';
import type { DeviceNode } from '../sysfs/tree.js';
import { RdmaCmFile } from '../ucma/rdma-cm-file.js';
import type { Ucma } from '../ucma/ucma.js';
import type { Turns } from '../uverbs/doorbell.js';
import { UverbsFile } from '../uverbs/uverbs-file.js';
import type { DescriptorRange, DescriptorRanges } from './descriptor-ranges.js';

/** What every kind of device file is opened with. */
export interface Opening extends Turns {
  readonly node: DeviceNode;
  readonly pid: number;
  readonly devices: readonly GuestDevice[];
  /** Who tells of requests that failed, if anybody does. */
  readonly failures: FailureReport | undefined;
  readonly ucma: Ucma;
  readonly calls: Calls;
  /** What a thread of a program knows by a descriptor. */
  fileAt(tid: number, fd: number): GuestFile | undefined;
  /** Has an opened device visited in the next round, and until it needs no look. */
  readonly due: (file: OpenedDevice) => void;
}

export interface OpenedDevice extends GuestFile {
  /** Hands on to the NIC what the program has posted. @returns whether there was anything */
  pull(): boolean;
  /** Tells the program what the NIC has done. @returns as `pull` */
  push(): boolean;
  /** Whether each round visits it, and not those alone that it has asked for. */
  readonly isVisitedAlways: boolean;
  /** Whether something may have to be done without anybody saying so. */
  readonly needsLook: boolean;
}

/** A kind of device file: where its descriptors lie, and what is opened. */
interface DeviceDriver {
  readonly ranges: readonly (keyof DescriptorRanges)[];
  /** @throws what says that there can be no more: VerbsError, SystemCallError */
  readonly open: (opening: Opening) => OpenedDevice;
}

const DRIVERS: Readonly<Record<DeviceNode['driver'], DeviceDriver>> = {
  uverbs: { ranges: ['uverbs'], open: (opening) => new UverbsFile(opening) },
  rdma_cm: { ranges: ['rdmaCm', 'moreRdmaCm'], open: (opening) => new RdmaCmFile(opening) },
};

/**
 * Opens a device file.
 *
 * @returns it, and where the numbers lie that programs know it by
 * @throws what says that there can be no more: VerbsError, SystemCallError
 */
export function openDeviceFile(
  opening: Opening,
  ranges: DescriptorRanges,
): { readonly file: OpenedDevice; readonly ranges: readonly DescriptorRange[] } {
  const driver = DRIVERS[opening.node.driver];
  return { file: driver.open(opening), ranges: driver.ranges.map((range) => ranges[range]) };
}
