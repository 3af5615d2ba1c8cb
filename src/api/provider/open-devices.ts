import type { Context } from '../verbs/index.js';

/** The devices that this thread has opened. Held weakly: a program may drop a context without closing it. */
const opened = new Set<WeakRef<Context>>();
const watchers = new Set<(context: Context) => void>();

/** Notes a device that a program of this thread has opened on the machine. */
export function noteOpened(context: Context): void {
  for (const known of opened) if (known.deref() === undefined) opened.delete(known);
  opened.add(new WeakRef(context));
  for (const watch of [...watchers]) watch(context);
}

/** The devices that this thread has opened, the oldest first. Closed ones may be among them. */
export function openedDevices(): readonly Context[] {
  return [...opened].flatMap((known) => known.deref() ?? []);
}

/** Has `watch` called with every device that this thread opens from now on. */
export function watchOpened(watch: (context: Context) => void): void {
  watchers.add(watch);
}
