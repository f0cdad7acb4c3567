import { randomInt } from 'node:crypto'
import { freePort } from '../../../src/dev/processes/free-port.ts'

/**
 * A free port outside the ephemeral range, which begins at 32768. So it is still free when a stopped server
 * wants it again.
 */
export const lastingPort = (): Promise<number> => freePort(16_000 + randomInt(16_000))
