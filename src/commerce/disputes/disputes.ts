import { area } from '../../kernel/contract/area.ts'
import type { Deadline } from '../../kernel/contract/deadline.ts'
import { implement } from '../../kernel/contract/operation.ts'
import { createdWithin } from '../../kernel/database/created-within.ts'
import { definedOnly } from '../../kernel/database/entity.ts'
import { addEvidence } from './add-evidence.ts'
import { disputesApi } from './api.ts'
import { bundle } from './bundle/bundle.ts'
import { find, update, withdraw } from './change.ts'
import { create } from './create.ts'
import { Dispute, NEEDS_RUN } from './dispute.ts'
import { followDeadlines } from './follow-deadlines.ts'
import { callStep, submit } from './network/call-step.ts'
import { notice } from './network/notice.ts'
import { disputesPersonal } from './personal.ts'
import { disputeProcess } from './process.ts'
import { disputeReactions } from './reactions.ts'
import { disputeMachine } from './states.ts'
import { processStatus } from './status.ts'
import { stepsApi } from './steps-api.ts'
import { timeline } from './timeline.ts'

const disputes = implement(
  { ...disputesApi, ...stepsApi },
  {
    create,
    update,
    addEvidence,
    submit,
    withdraw,
    find,
    timeline,
    bundle,
    processStatus,
    followDeadlines,
    callProcessor: callStep,
    notice,

    async list({ query: { from, to, limit: _limit, cursor: _cursor, ...filters } }, context) {
      const created = await createdWithin('dispute', { from, to }, context)
      return context.page(Dispute, definedOnly({ ...filters, ...created }))
    },

    async get({ params }, { records, refuse }) {
      return (await records.findOne(Dispute, { id: params.id })) ?? refuse('dispute_not_found')
    },
  },
)

const deadline: Deadline = {
  process: disputeProcess,
  table: 'disputes',
  record: 'id',
  agent: 'agent_id',
  due: 'due_at',
  open: NEEDS_RUN,
  waits: 'true',
  operations: ['disputes.followDeadlines', 'disputes.callProcessor'],
}

export const disputesArea = area(
  'Disputes',
  'Payments by card that the owner does not accept: evidence, the card network, its decision, and the money meanwhile.',
  disputes,
  {
    personal: disputesPersonal,
    entities: [Dispute],
    machines: [disputeMachine],
    reactions: disputeReactions,
    deadlines: [deadline],
    openRecords: [
      {
        process: disputeProcess,
        select: `select id, owner_id, mode, agent_id, amount_cents from disputes where ${NEEDS_RUN}`,
      },
    ],
  },
)
