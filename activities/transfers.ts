import {
  cancelUnconfirmedTransfer,
  type RailAnswer,
  recordPayeeCheck,
  recordRailAnswer,
  recordRecallAnswer,
  reserveInquiry,
  reservePayeeCheck,
  reserveSubmission,
  submitInTime,
  transferStatus,
  transferSteps,
  transfersApi,
} from '../src/commerce/transfers/index.ts'
import type { RecordRef } from '../src/kernel/contract/step.ts'
import type { ActivityTools } from './shared/tools.ts'

export type TransferActivities = ReturnType<typeof transferActivities>

/**
 * The rail is the bank connection for SEPA. Its calls are made between transactions: each is reserved and committed before it is
 * made, and its answer recorded after it. A rail that does not answer in time answers `late`.
 */
export const transferActivities = ({ systems, read, decide, transaction, outside }: ActivityTools) => {
  const readTransfer = (ref: RecordRef) => read(ref, context => transferStatus(ref.id, context))
  return {
    readTransfer,

    decideTransfer: decide({
      confirmPayee: { operation: transfersApi.confirmPayee },
      cancel: { operation: transfersApi.cancel },
    }),

    /**
     * Moves no money. A question whose answer was lost is asked again after its 15 seconds; a bank that answers `late` counts as
     * one that cannot check, and the payment goes on. A name that the bank does not know, or knows otherwise, is doubtful: a
     * person has seven days to confirm the payee.
     */
    verifyPayee: outside(transferSteps.verify, async (ref, { transaction, call }) => {
      const rail = systems.sepaRail(ref.mode)
      const question = await transaction(tx => reservePayeeCheck(ref.id, tx))
      if (question)
        await call(
          () => rail.verifyPayee(question.payee, question.call),
          (answer, tx) => recordPayeeCheck(ref.id, answer, tx),
        )
      return readTransfer(ref)
    }),

    /** Releases the money after the seven days, not before. */
    async cancelUnconfirmed(ref: RecordRef) {
      await transaction(ref, transferSteps.lapse, tx => cancelUnconfirmedTransfer(ref.id, tx))
      return readTransfer(ref)
    },

    /**
     * The reservation takes the money out of the wallet and commits `submitted`, before the rail is called. Only the attempt that
     * committed it gets the order, so a repetition calls no rail. Whether a worker dies before the call, or after it, or the rail
     * answers `late`: the transfer is submitted, its outcome unknown, and `askRail` finds out.
     */
    submitPayment: outside(transferSteps.submit, async (ref, { transaction, call }) => {
      const rail = systems.sepaRail(ref.mode)
      const order = await transaction(tx => reserveSubmission(ref.id, tx))
      if (order)
        await call(
          () => submitInTime(rail, order),
          (answer, tx) => recordRailAnswer(ref.id, answer, tx),
        )
      return readTransfer(ref)
    }),

    /**
     * Asks when an inquiry is due: 10 seconds after the submission, then after 1, 10, 60 and 360 minutes, then daily. The money
     * stays out of the wallet until the rail has answered: settled completes the transfer; rejected or returned gives the money
     * back. A payment that the rail says it never got is submitted again with the same reference, under which the rail pays once; an
     * instant payment is rejected instead, since its ten seconds are over.
     */
    askRail: outside(transferSteps.inquire, async (ref, { transaction, call }) => {
      const rail = systems.sepaRail(ref.mode)
      const asked = await transaction(tx => reserveInquiry(ref.id, tx))
      const ask = (make: () => Promise<RailAnswer>) =>
        call(make, (answer, tx) => recordRailAnswer(ref.id, answer, tx))
      const isLost = asked?.isSubmitted && (await ask(() => rail.statusOf(asked.payment, asked.call)))
      if (isLost) await ask(() => rail.submit(asked.payment, asked.call))
      if (asked?.isRecalled)
        await call(
          () => rail.recall(asked.payment, asked.call),
          (answer, tx) => recordRecallAnswer(ref.id, answer, tx),
        )
      return readTransfer(ref)
    }),
  }
}
