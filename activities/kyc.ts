import {
  applyProviderAnswer,
  askProvider,
  eraseKycDocument,
  identityCheckStatus,
  kycSteps,
  recordRedaction,
  redactAtProvider,
  reserveCheck,
  reserveRedaction,
} from '../src/identity/kyc/index.ts'
import type { RecordRef } from '../src/kernel/contract/step.ts'
import type { ActivityTools } from './shared/tools.ts'

export type KycActivities = Omit<
  ReturnType<typeof kycActivities>,
  'redactIdentityCheck' | 'eraseIdentityDocument'
>

/** The provider checks each reference once: a call is repeated where its answer was lost. */
export const kycActivities = ({ systems, read, transaction, outside }: ActivityTools) => {
  const readIdentityCheck = (ref: RecordRef) => read(ref, context => identityCheckStatus(ref.id, context))
  return {
    readIdentityCheck,

    submitIdentity: outside(kycSteps.submit, async (ref, { transaction, call }) => {
      const question = await transaction(tx => reserveCheck(ref.id, 'pending', tx))
      if (question)
        await call(
          () => systems.identityVerification().submit(question.check, question.call),
          (answer, tx) => applyProviderAnswer(ref.id, answer, tx),
        )
      return readIdentityCheck(ref)
    }),

    askProvider: outside(kycSteps.inquire, async (ref, { transaction, call }) => {
      const question = await transaction(tx => reserveCheck(ref.id, 'in_review', tx))
      if (question)
        await call(
          () => askProvider(question, systems.identityVerification()),
          (answer, tx) => applyProviderAnswer(ref.id, answer, tx),
        )
      return readIdentityCheck(ref)
    }),

    /** Years after the run has ended. */
    redactIdentityCheck: outside(kycSteps.redact, async (ref, { transaction, call }) => {
      if (await transaction(tx => reserveRedaction(ref.id, tx)))
        await call(
          () => redactAtProvider(ref.id, systems.identityVerification()),
          (answer, tx) => recordRedaction(ref.id, answer, tx),
        )
      return readIdentityCheck(ref)
    }),

    /** A document has no run. */
    async eraseIdentityDocument(ref: RecordRef): Promise<void> {
      await transaction(ref, kycSteps.eraseDocument, tx => eraseKycDocument(ref.id, tx))
    },
  }
}
