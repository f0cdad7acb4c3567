import { startTestService } from '../../support/harness.ts'

/** One service for all parts of the file. */
export const service = await startTestService({ own: true })
