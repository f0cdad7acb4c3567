import {
  cardStatus,
  cardSteps,
  cardsApi,
  endDueCard,
  recordIssuedCard,
  recordReplacement,
  recordReplies,
  requestCardIssue,
  requestReplacement,
  reserveCardIssue,
  reserveInstruction,
  reserveReplacement,
  returnDuePurse,
  sendInstruction,
} from '../src/cards/cards/index.ts'
import type { RecordRef } from '../src/kernel/contract/step.ts'
import type { ActivityTools } from './shared/tools.ts'

export type CardActivities = ReturnType<typeof cardActivities>

export const cardActivities = ({ systems, read, decide, transaction, outside }: ActivityTools) => {
  const readCard = (ref: RecordRef) => read(ref, context => cardStatus(ref.id, context))
  const processorOf = ({ mode }: RecordRef) => systems.cardProcessor(mode)
  return {
    readCard,

    decideCard: decide({
      freeze: {
        operation: cardsApi.freeze,
        body: (by, comment) => ({ reason: comment ?? `Frozen by ${by}` }),
      },
      unfreeze: { operation: cardsApi.unfreeze, body: () => ({}) },
      close: {
        operation: cardsApi.close,
        body: (by, comment) => ({ reason: comment ?? `Closed by ${by}` }),
      },
    }),

    /** The card's id is the reference of the call: however often it is repeated, there is one card. */
    issueCard: outside(cardSteps.issue, async (ref, { transaction, call }) => {
      const request = await transaction(tx => reserveCardIssue(ref.id, tx))
      if (request)
        await call(
          () => requestCardIssue(request, processorOf(ref)),
          (answer, tx) => recordIssuedCard(answer, request, tx),
        )
      return readCard(ref)
    }),

    /** The number's id was reserved with the rotation, and is the reference of the call: there is one number. */
    replaceNumber: outside(cardSteps.replace, async (ref, { transaction, call }) => {
      const replacement = await transaction(tx => reserveReplacement(ref.id, tx))
      if (replacement)
        await call(
          () => requestReplacement(replacement, processorOf(ref)),
          (answer, tx) => recordReplacement(answer, replacement, tx),
        )
      return readCard(ref)
    }),

    /** Each state and each version of the controls has a reference, which repetitions reuse. */
    tellProcessor: outside(cardSteps.tell, async (ref, { transaction, call }) => {
      const instruction = await transaction(tx => reserveInstruction(ref.id, tx))
      if (instruction)
        await call(
          () => sendInstruction(instruction, processorOf(ref)),
          (replies, tx) => recordReplies(replies, instruction, tx),
        )
      return readCard(ref)
    }),

    async endCard(ref: RecordRef) {
      await transaction(ref, cardSteps.end, tx => endDueCard(ref.id, tx))
      return readCard(ref)
    },

    async returnPurse(ref: RecordRef) {
      await transaction(ref, cardSteps.returnPurse, tx => returnDuePurse(ref.id, tx))
      return readCard(ref)
    },
  }
}
