import { startTestService } from '../../support/harness.ts'

/** The service that the tests of identity checks share. */
export const service = await startTestService({ own: true })
