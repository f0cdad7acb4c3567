import { startTestService } from '../../support/harness.ts'

/** The service that all tests of passkeys share; it has two processes with one address. */
export const service = await startTestService()
