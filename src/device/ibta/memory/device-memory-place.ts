/** Where memory of a device is, as whoever hosts a NIC finds it, from any thread of the process: plain data. */
export interface DeviceMemoryPlace {
  /** Who has it: the name of a kind of device. */
  readonly kind: string;
  readonly lengthBytes: number;
}
