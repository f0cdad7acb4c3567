import { randomInt } from 'node:crypto'
import { freePort } from '../../../src/dev/processes/free-port.ts'

/**
 * A free port that no system gives away by itself: whoever asks for any port gets one above 32767. So it is still free
 * when a server that was stopped for a while wants it again, whatever else runs on the machine.
 */
export const lastingPort = (): Promise<number> => freePort(16_000 + randomInt(16_000))
