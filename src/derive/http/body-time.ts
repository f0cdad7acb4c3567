import type { IncomingMessage } from 'node:http'

/** A phone in a train sends a megabit a second. */
const SLOWEST_BYTES_A_MS = 125

const granted = new WeakMap<IncomingMessage, number>()

/** Gives a large body the time that a slow line needs for it, once somebody is ready to read it. */
export function grantTime(request: IncomingMessage, bytes: number): void {
  granted.set(request, bytes / SLOWEST_BYTES_A_MS)
}

/** How many milliseconds a body has beyond those of every body. */
export const grantedTime = (request: IncomingMessage): number => granted.get(request) ?? 0
