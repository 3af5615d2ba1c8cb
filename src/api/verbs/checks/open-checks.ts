import type { OpenOptions } from '../objects/open-options.js';
import type { FieldsOf } from './fields.js';

/** The fields of what says how a device is opened, at an address that is said elsewhere. */
export const openingFields: FieldsOf<Omit<OpenOptions, 'address' | 'device'>> = {
  host: true,
  capture: true,
  link: true,
  netem: true,
  minAckTimeout: true,
  warn: true,
};

/** The same, and what says whose NIC it is. */
export const openFields: FieldsOf<OpenOptions> = { ...openingFields, address: true, device: true };
