import type { Context } from '../verbs/index.js';
import { notYet } from './not-yet.js';

/**
 * The devices that the program has through rdma_cm (`rdma_get_devices`), which stay open until it ends. When it has none
 * yet, its default device is opened: the one that VERBENA_ADDR says, else one on loopback.
 *
 * @throws VerbsError as `openDevice`
 */
export function getDevices(): readonly Context[] {
  return notYet();
}
