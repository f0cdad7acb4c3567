import {
  deleteToken,
  endUnpaid,
  leaveOutcomeOpen,
  machinePaymentStatus,
  mppApi,
  mppSteps,
  recordDeletedToken,
  reserveTokenDeletion,
} from '../src/commerce/mpp/index.ts'
import type { RecordRef } from '../src/kernel/contract/step.ts'
import type { ActivityTools } from './shared/tools.ts'

export type MppActivities = ReturnType<typeof mppActivities>

export const mppActivities = ({ systems, read, transaction, outside, decide }: ActivityTools) => {
  const readMachinePayment = (ref: RecordRef) => read(ref, context => machinePaymentStatus(ref.id, context))
  const resolved =
    (outcome: 'paid' | 'not_paid') =>
    (_by: string, comment: string | undefined): object => ({ outcome, ...(comment && { comment }) })
  return {
    readMachinePayment,

    resolveMachinePayment: decide({
      paid: { operation: mppApi.resolve, body: resolved('paid') },
      notPaid: { operation: mppApi.resolve, body: resolved('not_paid') },
    }),

    async leaveOutcomeOpen(ref: RecordRef) {
      await transaction(ref, mppSteps.settle, tx => leaveOutcomeOpen(ref.id, tx))
      return readMachinePayment(ref)
    },

    async endUnpaid(ref: RecordRef) {
      await transaction(ref, mppSteps.settle, tx => endUnpaid(ref.id, tx))
      return readMachinePayment(ref)
    },

    /** A processor that does not answer is asked again a minute later. */
    deleteNetworkToken: outside(mppSteps.deleteToken, async (ref, { transaction, call }) => {
      const token = await transaction(tx => reserveTokenDeletion(ref.id, tx))
      if (token)
        await call(
          () => deleteToken(token, systems.cardProcessor(ref.mode)),
          (answer, tx) => recordDeletedToken(ref.id, answer, tx),
        )
      return readMachinePayment(ref)
    }),
  }
}
