import {
  callDisputeProcessor,
  disputeStatus,
  disputeSteps,
  followDisputeDeadlines,
  recordDisputeAnswer,
  reserveDisputeCall,
} from '../src/commerce/disputes/index.ts'
import type { RecordRef } from '../src/kernel/contract/step.ts'
import type { ActivityTools } from './shared/tools.ts'

export type DisputeActivities = ReturnType<typeof disputeActivities>

export const disputeActivities = ({ systems, read, transaction, outside }: ActivityTools) => {
  const readDispute = (ref: RecordRef) => read(ref, context => disputeStatus(ref.id, context))
  return {
    readDispute,

    async followDisputeDeadlines(ref: RecordRef) {
      await transaction(ref, disputeSteps.followDeadlines, tx => followDisputeDeadlines(ref.id, tx))
      return readDispute(ref)
    },

    /**
     * One call after the other, for as long as an answer leads to another one: with its evidence a dispute is filed, and then
     * the network is asked. Each is reserved and committed before it is made. Repeated under its reference, it acts once.
     */
    callAboutDispute: outside(disputeSteps.callProcessor, async (ref, { transaction, call }) => {
      let next = await transaction(tx => reserveDisputeCall(ref.id, tx))
      while (next) {
        const asked = next
        const recorded = await call(
          () => callDisputeProcessor(asked, systems),
          (answer, tx) => recordDisputeAnswer(answer, asked, tx),
        )
        next = recorded?.next
      }
      return readDispute(ref)
    }),
  }
}
