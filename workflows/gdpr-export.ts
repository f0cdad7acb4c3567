import type { GdprActivities } from '../activities/gdpr.ts'
import type { ProcessInput } from '../src/kernel/contract/process.ts'
import { followRecord } from './shared/follow-record.ts'
import { stepsOf } from './shared/steps.ts'

const { readExport, advanceExport } = stepsOf<GdprActivities>()({
  readExport: { summary: 'How the export stands' },
  advanceExport: { summary: 'The archive is ready, or has been there for seven days' },
})

/** What is held about a person can be downloaded for seven days. */
export const gdprExport = (input: ProcessInput): Promise<string> =>
  followRecord(input, {
    read: readExport,
    async story(record) {
      await record.during(
        ({ status }) => status === 'requested',
        () => advanceExport(input),
      )
      await record.during(
        ({ status }) => status === 'ready',
        () => advanceExport(input),
      )
    },
  })
