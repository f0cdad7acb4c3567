import { startTestService } from '../../support/harness.ts'

/** The service of the tests that need no Temporal: its merchants are on the loopback. */
export const service = await startTestService({ env: { OUTBOUND_ALLOW_CIDRS: '127.0.0.1' } })
