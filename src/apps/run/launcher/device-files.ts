import type { GuestDevice } from '../guest-device.js';
import type { GuestFile } from '../processes/guest-files.js';
import type { DeviceNode } from '../sysfs/tree.js';
import { UverbsFile } from '../uverbs/uverbs-file.js';
import type { DescriptorRange, DescriptorRanges } from './descriptor-ranges.js';

/** What every kind of device file is opened with. */
export interface Opening {
  readonly node: DeviceNode;
  /** The process that opens it. */
  readonly pid: number;
  readonly devices: readonly GuestDevice[];
  /** Has the NICs take turns until there is nothing more to do. */
  onPosted(): void;
}

/** An opened device, as the loop of the NICs has it. */
export interface OpenedDevice extends GuestFile {
  /** Hands on to the NIC what the program has posted. @returns whether there was anything */
  pull(): boolean;
  /** Tells the program what the NIC has done. @returns as `pull` */
  push(): boolean;
  /** Whether something may have to be done without anybody saying so. */
  readonly needsLook: boolean;
}

/** A kind of device file: where its descriptors lie, and what is opened. */
interface DeviceDriver {
  readonly range: keyof DescriptorRanges;
  /** @throws what says that there can be no more: VerbsError, SystemCallError */
  readonly open: (opening: Opening) => OpenedDevice;
}

/** The kinds that there are, by the drivers' names. What is not here, programs do not find. */
const DRIVERS: Readonly<Partial<Record<DeviceNode['driver'], DeviceDriver>>> = {
  uverbs: { range: 'uverbs', open: (opening) => new UverbsFile(opening) },
};

/** Names of the drivers that there are. */
export const DRIVER_NAMES: readonly DeviceNode['driver'][] = (['uverbs', 'rdma_cm'] as const).filter(
  (name) => DRIVERS[name] !== undefined,
);

/** Opens a device file. @returns it, and the numbers that programs know it by; undefined where there is no such driver */
export function openDeviceFile(
  opening: Opening,
  ranges: DescriptorRanges,
): { readonly file: OpenedDevice; readonly range: DescriptorRange } | undefined {
  const driver = DRIVERS[opening.node.driver];
  return driver === undefined ? undefined : { file: driver.open(opening), range: ranges[driver.range] };
}
