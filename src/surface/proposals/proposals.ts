import { area } from '../../kernel/contract/area.ts'
import type { Deadline } from '../../kernel/contract/deadline.ts'
import { bindHandlers, type HandlerOf } from '../../kernel/contract/operation.ts'
import { definedOnly, FOR_UPDATE } from '../../kernel/database/entity.ts'
import { getRecordAs } from '../../kernel/database/get-record.ts'
import { lockTenant } from '../../kernel/database/tenant-lock.ts'
import { addMs } from '../../values/clock.ts'
import { proposalsApi } from './api.ts'
import {
  applyProposal,
  endDueProposal,
  endProposal,
  proposalClosedReason,
  proposalEvent,
  proposalResponse,
} from './apply.ts'
import {
  MAX_OPEN_PROPOSALS,
  OPEN_PROPOSAL_SQL,
  PROPOSAL_TTL_MS,
  Proposal,
  proposalMachine,
} from './proposal.ts'

/**
 * Returns an identical open proposal of the same proposer instead of a new one, so that a model that repeats
 * itself asks once.
 */
const make: HandlerOf<typeof proposalsApi.make> = async ({ body: { proposal: members } }, context) => {
  const { em, now, emit } = context
  const { proposerId, hash } = members
  await lockTenant(context, 'proposals')
  const open = await em.find(Proposal, { proposerId, status: 'open' }, { limit: MAX_OPEN_PROPOSALS })
  const same = open.find(one => one.hash === hash && one.expiresAt > now)
  if (same) return { proposal: proposalResponse(same), isRepeated: true }
  if (open.length >= MAX_OPEN_PROPOSALS) return { proposal: null, isRepeated: false }
  const expiresAt = addMs(now, PROPOSAL_TTL_MS)
  const proposal = em.create(Proposal, { ...members, expiresAt, dueAt: expiresAt })
  emit('canvas.proposal_created', proposalEvent(proposal))
  return { proposal: proposalResponse(proposal), isRepeated: false }
}

const proposals = bindHandlers(proposalsApi, {
  make,
  apply: applyProposal,
  end: endDueProposal,

  async list({ query: { status, agentId } }, context) {
    const { data, ...rest } = await context.page(Proposal, definedOnly({ status, agentId }))
    return { ...rest, data: data.map(proposalResponse) }
  },

  get: getRecordAs(Proposal, 'proposal_not_found', proposalResponse),

  async dismiss({ params }, context) {
    const { em, actor, now, refuse } = context
    const proposal = await em.findOne(Proposal, { id: params.id }, FOR_UPDATE)
    if (!proposal) return refuse('proposal_not_found')
    if (proposal.status === 'applying') return refuse('proposal_applying')
    const problem = proposalClosedReason(proposal, now)
    if (problem) return refuse(problem)
    proposal.decidedBy = { type: actor.type, id: actor.id, name: actor.name ?? null }
    endProposal(proposal, 'dismissed', context)
    return proposalResponse(proposal)
  },
})

/** Proposals have no workflow: the sweep and the test clock end the due ones. */
const deadline: Deadline = {
  process: { name: 'proposal' },
  table: 'proposals',
  record: 'id',
  agent: 'agent_id',
  due: 'due_at',
  open: OPEN_PROPOSAL_SQL,
  waits: 'false',
  operations: ['proposals.end'],
}

export const proposalsArea = area(
  'Proposals',
  'Changes that assistants and agents propose, and people apply.',
  proposals,
  {
    entities: [Proposal],
    machines: [proposalMachine],
    deadlines: [deadline],
  },
)
