import {
  CmEventType as cmEventTypes,
  EventType as eventTypes,
  WcOpcode as wcOpcodes,
  WcStatus as wcStatuses,
} from '../../../device/ibta/index.js';

/** Constants by name, and their names by value: `WcStatus.SUCCESS` is 0, and `WcStatus[0]` is `'SUCCESS'`. */
export type Named<T> = T & Readonly<Record<number, keyof T>>;

/** Gives constants their names by value. `Object.keys` and its like still find the constants alone. */
function named<T extends Readonly<Record<string, number>>>(constants: T): Named<T> {
  for (const [name, value] of Object.entries(constants))
    if (!Object.hasOwn(constants, value)) Object.defineProperty(constants, value, { value: name });
  // It has them now, which the compiler cannot see.
  return constants as Named<T>;
}

/** The values of `enum ibv_wc_status`, and their names: `WcStatus[wc.status]`. */
export const WcStatus = named(wcStatuses);
export type WcStatus = (typeof wcStatuses)[keyof typeof wcStatuses];

/** The values of `enum ibv_wc_opcode`, and their names: `WcOpcode[wc.opcode]`. */
export const WcOpcode = named(wcOpcodes);
export type WcOpcode = (typeof wcOpcodes)[keyof typeof wcOpcodes];

/** The values of `enum ibv_event_type`, and their names: `EventType[event.type]`. */
export const EventType = named(eventTypes);
export type EventType = (typeof eventTypes)[keyof typeof eventTypes];

/** The values of `enum rdma_cm_event_type`, and their names: `CmEventType[event.event]`. */
export const CmEventType = named(cmEventTypes);
export type CmEventType = (typeof cmEventTypes)[keyof typeof cmEventTypes];
