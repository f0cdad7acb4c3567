import {
  cardRequestStatus,
  cardRequestSteps,
  cardRequestsApi,
  carryOutApproval,
  endCardApprovalStep,
  expireCardRequest,
  remindCardApprovers,
} from '../src/cards/card-requests/index.ts'
import type { RecordRef } from '../src/kernel/contract/step.ts'
import { type ActivityTools, denial } from './shared/tools.ts'

export type CardRequestActivities = ReturnType<typeof cardRequestActivities>

export const cardRequestActivities = ({ read, decide, transaction }: ActivityTools) => {
  const readCardRequest = (ref: RecordRef) => read(ref, context => cardRequestStatus(ref.id, context))
  return {
    readCardRequest,

    answerCardRequest: decide({
      approve: { operation: cardRequestsApi.approve },
      deny: { operation: cardRequestsApi.deny, body: denial },
      cancel: { operation: cardRequestsApi.cancel },
    }),

    async remindCardApprovers(ref: RecordRef) {
      await transaction(ref, cardRequestSteps.remind, tx => remindCardApprovers(ref.id, tx))
      return readCardRequest(ref)
    },

    async endCardApprovalStep(ref: RecordRef) {
      await transaction(ref, cardRequestSteps.endStep, tx => endCardApprovalStep(ref.id, tx))
      return readCardRequest(ref)
    },

    async expireCardRequest(ref: RecordRef) {
      await transaction(ref, cardRequestSteps.expire, tx => expireCardRequest(ref.id, tx))
      return readCardRequest(ref)
    },

    /** A new card is recorded, and its own run has it issued; limits change at once. */
    async carryOutCardRequest(ref: RecordRef) {
      await transaction(ref, cardRequestSteps.carryOut, tx => carryOutApproval(ref.id, tx))
      return readCardRequest(ref)
    },
  }
}
