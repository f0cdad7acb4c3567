import { startTestService } from '../../support/harness.ts'

/** One for both: it makes the pages once. */
export const service = await startTestService()
