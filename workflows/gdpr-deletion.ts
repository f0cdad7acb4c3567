import type { GdprActivities } from '../activities/gdpr.ts'
import type { ProcessInput } from '../src/kernel/contract/process.ts'
import { followRecord } from './shared/follow-record.ts'
import { stepsOf } from './shared/steps.ts'

const { readDeletion, advanceDeletion } = stepsOf<GdprActivities>()({
  readDeletion: { summary: 'How the deletion stands' },
  advanceDeletion: { summary: 'The next step: look what must end first, end the account, forget a page' },
})

/** Somebody who has asked for it is forgotten, unless the request is taken back within seven days. */
export const gdprDeletion = (input: ProcessInput): Promise<string> =>
  followRecord(input, {
    read: readDeletion,
    async story(record) {
      const advance = () => advanceDeletion(input)
      await record.during(({ status }) => status === 'requested', advance)
      await record.during(({ status }) => status === 'waiting', advance)
      await record.during(({ status }) => status === 'ending', advance)
      await record.during(({ status }) => status === 'forgetting', advance)
    },
  })
