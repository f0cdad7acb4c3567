import type { HandlerOf } from '../../kernel/contract/operation.ts'
import type { disputesApi } from './api.ts'
import { lockDispute } from './lock-dispute.ts'
import { settle } from './settle.ts'

const MOST_EVIDENCE = 50

export const addEvidence: HandlerOf<typeof disputesApi.addEvidence> = async ({ params, body }, context) => {
  const { refuse } = context
  const locked = await lockDispute(params.id, context)
  if (!locked) return refuse('dispute_not_found')
  const { dispute } = locked
  if (dispute.status !== 'open')
    return refuse('dispute_not_open', `The dispute is ${dispute.status} already.`)
  const evidenceIds = [...new Set([...dispute.evidenceIds, ...body.evidenceIds])]
  if (evidenceIds.length > MOST_EVIDENCE) return refuse('too_much_evidence')
  dispute.evidenceIds = evidenceIds
  settle(locked, context, { change: 'evidence' })
  return dispute
}
