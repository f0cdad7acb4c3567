import { startTestService } from '../../support/harness.ts'

/** One for all that is proved of keys, with two processes. */
export const service = await startTestService()
export const elsewhere = await service.another()
