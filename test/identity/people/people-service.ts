import { startTestService } from '../../support/harness.ts'

/** The service of all people tests, with two processes. */
export const service = await startTestService({ own: true })
export const otherProcessUrl = await service.another()
