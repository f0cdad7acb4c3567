import { startTestService } from '../../support/harness.ts'

/** The service of all identity check tests. */
export const service = await startTestService({ own: true })
