import {
  askAndMint,
  beginPayment,
  type CarriedPayment,
  claimOrder,
  createSharedToken,
  deleteToken,
  endObstructed,
  endUnpaid,
  endUnsent,
  giveBackToken,
  interruptOrder,
  isUsable,
  leaveOutcomeOpen,
  machinePaymentStatus,
  mppApi,
  mppSteps,
  type NextStep,
  recordDeletedToken,
  recordIndeterminate,
  recordNoToken,
  recordPaid,
  recordSharedToken,
  releaseOrder,
  reserveSending,
  reserveSharedToken,
  reserveTokenDeletion,
  sendCredential,
} from '../src/commerce/mpp/index.ts'
import type { RecordRef } from '../src/kernel/contract/step.ts'
import type { ActivityTools } from './shared/tools.ts'

export type MppActivities = ReturnType<typeof mppActivities>

export const mppActivities = (tools: ActivityTools) => {
  const { systems, read, transaction, outside, decide } = tools
  const readMachinePayment = (ref: RecordRef) => read(ref, context => machinePaymentStatus(ref.id, context))
  const resolved =
    (outcome: 'paid' | 'not_paid') =>
    (_by: string, comment: string | undefined): object => ({ outcome, ...(comment && { comment }) })
  return {
    readMachinePayment,
    ...payingActivities(tools),

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

/** Up to the outcome: for runs, and for requests. Each says what may be done next. */
const payingActivities = (tools: ActivityTools) => ({
  mintCredential: mintCredentialOf(tools),

  /** For the method `stripe`. A repetition gets the same token; one that a person must confirm is asked about. */
  createSharedToken: tools.outside(
    mppSteps.share,
    async (ref: CarriedRef, { holder, callAnd, inBatch, transaction }): Promise<NextStep> => {
      const { id, carried } = ref
      const isHeld = carried?.holder === holder
      const sharing = (isHeld && carried.sharing) || (await transaction(tx => reserveSharedToken(id, tx)))
      if (!sharing) return 'wait'
      const sender = { holder: carried ? holder : null, begun: sharing.begun }
      const { next, problem, sending, isLate } = await callAnd(
        () => createSharedToken(sharing, tools.systems.cardProcessor(ref.mode)),
        token =>
          isUsable(token)
            ? inBatch(recordSharedToken, { id, token, sender })
            : transaction(tx => recordNoToken(id, token, tx)),
      )
      if (problem) await transaction(tx => endObstructed(id, problem, tx))
      if (isLate) await transaction(tx => endUnpaid(id, tx))
      if (carried) Object.assign(carried, { sharing: undefined, sending, answer: problem })
      if (carried?.isLeft && sending) await transaction(tx => endUnsent(id, tx))
      return next
    },
  ),

  sendCredential: sendCredentialOf(tools),

  /** A payment whose request has failed and cannot be repeated is not ordered later. */
  interruptOrder: (ref: RecordRef) =>
    tools.transaction(ref, mppSteps.settle, tx => interruptOrder(ref.id, tx)),
})

/**
 * Asks the merchant and mints, which pays nothing, so that it can be repeated: each attempt has a token of its own, and one
 * that is not used is given back. In one transaction the payment begins, and its credential is on record. A request has
 * claimed what it has just recorded.
 */
const mintCredentialOf = ({ systems, service, outside }: ActivityTools) =>
  outside(
    mppSteps.order,
    async (ref: CarriedRef, { holder, requestId, inBatch, callAnd, transaction }): Promise<NextStep> => {
      const { carried } = ref
      const isRequest = carried !== undefined
      const claimed = carried?.claimed ?? (await inBatch(claimOrder, { id: ref.id, holder, isRequest }))
      if (typeof claimed === 'string') return claimed
      const sender = carried ? holder : null
      const { decided, reference } = claimed
      const call = { reference, requestId, now: decided.askedAt }
      try {
        const { next, unused, problem, ...begun } = await callAnd(
          () => askAndMint(decided, { systems, service, call }),
          offer => inBatch(beginPayment, { decided, offer, sender }),
        )
        // What it has claimed holds for one attempt.
        if (carried) Object.assign(carried, { claimed: undefined, ...begun, holder, answer: problem })
        if (carried?.isLeft && carried.sending) await transaction(tx => endUnsent(ref.id, tx))
        // Only this attempt has the token, so it is given back without a claim, which a paused process may have lost.
        if (unused !== null) await giveBackToken(unused, systems.cardProcessor(ref.mode), call)
        return next
      } catch (error) {
        await transaction(tx => releaseOrder(ref.id, holder, tx)).catch(nothing)
        throw error
      }
    },
  )

/**
 * `sent` is committed before the credential leaves, and only the attempt that committed it sends. If its answer is lost, the
 * outcome is unknown. A process that was paused before it could send knows that nothing has left.
 */
const sendCredentialOf = ({ systems, outside }: ActivityTools) =>
  outside(
    mppSteps.send,
    async (ref: CarriedRef, { holder, requestId, inBatch, callAnd, transaction }): Promise<NextStep> => {
      const { id, carried } = ref
      const sending = carried?.sending ?? (await inBatch(reserveSending, { id, holder }))
      if (!sending) return 'wait'
      if ('code' in sending) {
        await transaction(tx => endObstructed(id, sending, tx))
        if (carried) carried.answer = sending
        return 'none'
      }
      let hasLeft = false
      const send = async () => {
        if (carried?.sending && carried.holder !== holder) throw new Error(`${id}: its lease has ended`)
        hasLeft = true
        return sendCredential(sending, { systems, requestId })
      }
      const answer = await callAnd(send, came =>
        came.kind === 'paid' ? inBatch(recordPaid, came) : transaction(tx => recordIndeterminate(came, tx)),
      ).catch((error: unknown) => {
        if (hasLeft) throw error
        return transaction(tx => endUnsent(id, tx))
      })
      if (carried) Object.assign(carried, { sending: undefined, answer })
      return 'none'
    },
  )

interface CarriedRef extends RecordRef {
  readonly carried?: CarriedPayment
}

const nothing = async (): Promise<void> => undefined
