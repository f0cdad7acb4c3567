import type { HandlerOf } from '../../kernel/contract/operation.ts'
import { lockTenant } from '../../kernel/database/tenant-lock.ts'
import { after } from '../../values/clock.ts'
import type { proposalsApi } from './api.ts'
import { MOST_OPEN, OPEN_FOR_MS, Proposal } from './proposal.ts'
import { proposalEvent, proposalResponse } from './response.ts'

/** Keeps a proposal. The same one of the same proposer is one for as long as it is open: a model that repeats itself asks once. */
export const make: HandlerOf<typeof proposalsApi.make> = async ({ body: { proposal: members } }, context) => {
  const { records, now, emit } = context
  const { proposerId, hash } = members
  await lockTenant(context, 'proposals')
  const open = await records.find(Proposal, { proposerId, status: 'open' }, { limit: MOST_OPEN })
  const same = open.find(one => one.hash === hash && one.expiresAt > now)
  if (same) return { proposal: proposalResponse(same), isRepeated: true }
  if (open.length >= MOST_OPEN) return { proposal: null, isRepeated: false }
  const expiresAt = after(now, OPEN_FOR_MS)
  const proposal = records.create(Proposal, { ...members, expiresAt, dueAt: expiresAt })
  emit('canvas.proposal_created', proposalEvent(proposal))
  return { proposal: proposalResponse(proposal), isRepeated: false }
}
