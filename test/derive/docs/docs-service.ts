import { startTestService } from '../../support/harness.ts'

/** One service for both test files, as it renders the pages once. */
export const service = await startTestService()
