import { startTestService } from '../../support/harness.ts'

/** Merchants are on the loopback interface. */
export const service = await startTestService({ env: { OUTBOUND_ALLOW_CIDRS: '127.0.0.1' } })
