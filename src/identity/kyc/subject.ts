import type { Context } from '../../kernel/contract/context.ts'
import { lockHolder, moveKyc, type verifiedEvents, verifyHolder } from '../customers/index.ts'
import { noteIdentity } from '../onboarding/index.ts'
import type { KycSubmission } from './submission.ts'

type Following = Pick<Context, 'actor' | 'sql' | 'actFor' | 'records' | 'now' | 'wake'>
type Ending = Following & Pick<Context<never, typeof verifiedEvents>, 'emit'>

/**
 * Lets whom the submission is about follow it: the representative of a company, or the account holder. The submission is
 * locked first.
 */
export async function followSubmission(submission: KycSubmission, context: Following): Promise<void> {
  const { representativeId, status, ownerId } = submission
  if (representativeId) await noteIdentity(context, { representativeId, status })
  else if (status !== 'verified') moveKyc(await lockHolder(context.records, ownerId), status)
}

/** The same for a submission that has ended: a holder who is verified gives the account their name. */
export async function followEnd(submission: KycSubmission, context: Ending): Promise<void> {
  await followSubmission(submission, context)
  const { representativeId, status, ownerId } = submission
  if (representativeId === null && status === 'verified')
    verifyHolder(await lockHolder(context.records, ownerId), submission, context)
}
