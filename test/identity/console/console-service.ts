import { startTestService } from '../../support/harness.ts'
import { recordSql, type SqlRecorder } from '../../support/sql-recorder.ts'

let opened: SqlRecorder | undefined

/** The service of all console tests, with two processes. */
export const service = await startTestService({
  env: { TRUST_PROXY: '1' },
  through: async url => {
    opened ??= await recordSql(url)
    return opened.url
  },
})
export const otherProcessUrl = await service.another()
export const recorder = opened as SqlRecorder
