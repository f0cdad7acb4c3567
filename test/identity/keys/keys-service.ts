import { startTestService } from '../../support/harness.ts'

/** The service that all tests of keys share; it has two processes. */
export const service = await startTestService({ own: true })
export const otherProcessUrl = await service.another()
