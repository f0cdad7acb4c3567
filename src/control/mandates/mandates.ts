import { area } from '../../kernel/contract/area.ts'
import type { ReadContext } from '../../kernel/contract/context.ts'
import type { Deadline } from '../../kernel/contract/deadline.ts'
import { bindHandlers } from '../../kernel/contract/operation.ts'
import { definedOnly } from '../../kernel/database/entity.ts'
import { getRecordAs } from '../../kernel/database/get-record.ts'
import { formatMinute } from '../../values/minute.ts'
import { mandateSteps, mandatesApi } from './api.ts'
import { mandateReactions, resumeMandate, revokeMandate, suspendMandateOperation } from './change.ts'
import { openMandateChallenge, signMandate } from './create.ts'
import { Mandate, mandateMachine, OPEN_MANDATE_SQL } from './mandate.ts'
import { type MandateSignal, mandateProcess } from './process.ts'
import { mandateResponse, mandateResponses } from './response.ts'

/** Temporal stores this summary of the run, so it contains no names. */
const summaryOf = ({ agentId, mode, status, expiresAt }: Mandate): string => {
  const stands = mandateMachine.isFinal(status) ? status : `${status}, until ${formatMinute(expiresAt)}`
  return `Mandate for ${agentId} in ${mode} mode: ${stands}`
}

const signalsOf = ({ status }: Mandate): MandateSignal[] =>
  status === 'suspended' ? ['resume', 'revoke'] : ['suspend', 'revoke']

/** What the run of a mandate reads. */
export async function mandateRunStatus(id: string, { em, now }: ReadContext) {
  const mandate = await em.findOne(Mandate, { id })
  if (!mandate) return undefined
  const closed = mandateMachine.isFinal(mandate.status)
  return {
    status: mandate.status,
    summary: summaryOf(mandate),
    closed,
    dueInMs: closed ? null : mandate.expiresAt.getTime() - now.getTime(),
    deadline: formatMinute(mandate.expiresAt),
    signals: closed ? [] : signalsOf(mandate),
  }
}

const mandates = bindHandlers(mandatesApi, {
  options: ({ body }, context) => openMandateChallenge(body, context),
  create: ({ body }, context) => signMandate(body, context),
  suspend: suspendMandateOperation,
  resume: resumeMandate,
  revoke: revokeMandate,

  async list({ query: { status, agentId } }, context) {
    const page = await context.page(Mandate, definedOnly({ status, agentId }))
    return { ...page, data: await mandateResponses(page.data, context) }
  },

  get: getRecordAs(Mandate, 'mandate_not_found', mandateResponse),
})

const expiry: Deadline = {
  process: mandateProcess,
  table: 'mandates',
  agent: 'agent_id',
  due: 'expires_at',
  open: OPEN_MANDATE_SQL,
  waits: 'true',
  activities: ['expireMandate'],
}

export const mandatesArea = area(
  'Mandates',
  'Permissions in advance, signed with a passkey: intents within a mandate need no further approval.',
  mandates,
  {
    steps: mandateSteps,
    entities: [Mandate],
    machines: [mandateMachine],
    deadlines: [expiry],
    reactions: mandateReactions,
    openRecords: [
      {
        process: mandateProcess,
        select: `select id, owner_id, mode, agent_id from mandates where ${OPEN_MANDATE_SQL}`,
      },
    ],
  },
)
