import type { MppActivities } from '../activities/mpp.ts'
import { mppSignals } from '../src/commerce/mpp/process.ts'
import type { ProcessInput } from '../src/kernel/contract/process.ts'
import { followRecord } from './shared/follow-record.ts'
import { addToTimeline } from './shared/run-page.ts'
import { answersTo } from './shared/signals.ts'
import { stepsOf } from './shared/steps.ts'

const { readMachinePayment, resolveMachinePayment, leaveOutcomeOpen, endUnpaid, deleteNetworkToken } =
  stepsOf<MppActivities>()({
    readMachinePayment: { summary: 'How the machine payment stands' },
    resolveMachinePayment: { summary: 'What an operator has signalled' },
    leaveOutcomeOpen: { summary: 'The merchant is silent: the outcome is open, and the money stays held' },
    endUnpaid: { summary: 'Nobody has said in time that it was paid: the token is revoked, the intent free' },
    deleteNetworkToken: { summary: 'The processor deletes the token' },
  })

/**
 * The request itself asks, checks, mints and sends; what it has done stands in the timeline. A silent merchant leaves the
 * outcome open until somebody says what became of it, or its time is over.
 */
export const mpp = (input: ProcessInput): Promise<string> => {
  const told = new Set<string>()
  return followRecord(input, {
    async read(of) {
      const status = await readMachinePayment(of)
      const news = status.steps.filter(step => !told.has(step))
      for (const step of news) told.add(step)
      await Promise.all(news.map(addToTimeline))
      return status
    },
    answers: answersTo(mppSignals, signalled => resolveMachinePayment({ ...input, ...signalled })),
    async story(record) {
      await record.during(
        ({ status }) => status === 'sent',
        () => leaveOutcomeOpen(input),
      )
      await record.during(
        ({ next }) => next === 'settle',
        () => endUnpaid(input),
      )
      await record.during(
        ({ next }) => next === 'deleteToken',
        () => deleteNetworkToken(input),
      )
    },
  })
}
