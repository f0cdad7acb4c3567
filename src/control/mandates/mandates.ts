import { area } from '../../kernel/contract/area.ts'
import type { Deadline } from '../../kernel/contract/deadline.ts'
import { implement } from '../../kernel/contract/operation.ts'
import { definedOnly } from '../../kernel/database/entity.ts'
import { mandatesApi } from './api.ts'
import { expire, resume, revoke, suspend } from './change.ts'
import { create, options } from './create.ts'
import { Mandate, mandateMachine, OPEN } from './mandate.ts'
import { mandatesPersonal } from './personal.ts'
import { mandateProcess } from './process.ts'
import { mandateReactions } from './reactions.ts'
import { mandateResponse, mandateResponses } from './response.ts'
import { processStatusOf } from './status.ts'

const mandates = implement(mandatesApi, {
  options,
  create,
  suspend,
  resume,
  revoke,
  expire,

  async list({ query: { status, agentId } }, context) {
    const page = await context.page(Mandate, definedOnly({ status, agentId }))
    return { ...page, data: await mandateResponses(page.data, context) }
  },

  async get({ params }, context) {
    const mandate = await context.records.findOne(Mandate, { id: params.id })
    return mandate ? mandateResponse(mandate, context) : context.refuse('mandate_not_found')
  },

  async status({ params }, { records, now, refuse }) {
    const mandate = await records.findOne(Mandate, { id: params.id })
    return mandate ? processStatusOf(mandate, now) : refuse('mandate_not_found')
  },
})

const expiry: Deadline = {
  process: mandateProcess,
  table: 'mandates',
  record: 'id',
  agent: 'agent_id',
  due: 'expires_at',
  open: OPEN,
  waits: 'true',
  operations: ['mandates.expire'],
}

export const mandatesArea = area(
  'Mandates',
  'What a person has allowed an agent in advance, signed with a passkey: intents inside it wait for nobody.',
  mandates,
  {
    personal: mandatesPersonal,
    entities: [Mandate],
    machines: [mandateMachine],
    deadlines: [expiry],
    reactions: mandateReactions,
    openRecords: [
      {
        process: mandateProcess,
        select: `select id, owner_id, mode, agent_id from mandates where ${OPEN}`,
      },
    ],
  },
)
