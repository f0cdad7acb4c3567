import { readPendingCardRequest } from '../../cards/card-requests/index.ts'
import { TRANSFERS_TO_CONFIRM_SQL } from '../../commerce/transfers/index.ts'
import { readAgentName } from '../../control/agents/index.ts'
import { readIntentApproval, readWaitingIntent } from '../../control/intents/index.ts'
import { type ApprovalProgress, isAskedNow, readWaitingChange } from '../../identity/approvals/index.ts'
import { readActivePeople, readPerson } from '../../identity/customers/index.ts'
import { isBeingRecovered } from '../../identity/people/index.ts'
import type { SqlContext } from '../../kernel/contract/context.ts'
import type { Row } from '../../kernel/contract/sql.ts'
import type { Cents } from '../../values/money.ts'
import type { MessageKind } from './message-rows.ts'

export type QuestionKind = Exclude<MessageKind, 'code' | 'link'>

export interface Question {
  readonly kind: QuestionKind
  readonly subjectId: string
}

/** How far the approvals are of what several people may approve. */
const approvals: Readonly<
  Partial<
    Record<QuestionKind, (id: string, context: SqlContext) => Promise<ApprovalProgress | null | undefined>>
  >
> = {
  intent: readIntentApproval,
  card_request: async (id, context) => (await readPendingCardRequest(id, context))?.approval,
  change_request: async (id, context) => (await readWaitingChange(id, context))?.approval,
}

/**
 * All owners and approvers are asked; where a policy asks several people those who are asked now, and about a
 * recovery also the person concerned. It is decided when the message leaves, so that a role that ended asks no more.
 */
export async function isAsked(
  { kind, subjectId }: Question,
  personId: string,
  context: SqlContext,
): Promise<boolean> {
  const approval = await approvals[kind]?.(subjectId, context)
  if (approval) return isAskedNow(approval, personId, context)
  const person = (await readActivePeople(context)).find(({ id }) => id === personId)
  if (!person) return false
  return person.role !== 'viewer' || (kind === 'recovery' && personId === subjectId)
}

export interface QuestionFacts {
  /** Null for a payment of the owner, and for a recovery. */
  readonly agent: string | null
  readonly amountCents: Cents | null
  readonly payee: string | null
  readonly purpose: string | null
  /** The person who gets access again, or whose rights change. */
  readonly person: string | null
}

const NO_FACTS: QuestionFacts = { agent: null, amountCents: null, payee: null, purpose: null, person: null }

type ReadFacts = (id: string, context: SqlContext) => Promise<QuestionFacts | undefined>

const TRANSFER = `
select agent_id as "agentId", amount_cents as "amountCents", payee ->> 'name' as payee, reference as purpose
from ${TRANSFERS_TO_CONFIRM_SQL} and id = $3`

type TransferRow = Pick<QuestionFacts, 'amountCents' | 'payee' | 'purpose'> &
  Row & { readonly agentId: string | null }

/** Records are read only while they wait for a person. */
const read: Readonly<Record<QuestionKind, ReadFacts>> = {
  async intent(id, context) {
    const intent = await readWaitingIntent(id, context)
    if (!intent) return undefined
    const { agentId, amountCents, merchant: payee, purpose } = intent
    return { ...NO_FACTS, agent: await readAgentName(agentId, context), amountCents, payee, purpose }
  },
  async card_request(id, context) {
    const request = await readPendingCardRequest(id, context)
    if (!request) return undefined
    const { agentId, amountCents, reason: purpose } = request
    return { ...NO_FACTS, agent: await readAgentName(agentId, context), amountCents, purpose }
  },
  async change_request(id, context) {
    const change = await readWaitingChange(id, context)
    if (!change) return undefined
    const { agentId, personId } = change
    const agent = agentId && (await readAgentName(agentId, context))
    const person = personId === null ? undefined : await readPerson(personId, context)
    return { ...NO_FACTS, agent, person: person?.name ?? null }
  },
  async transfer(id, context) {
    const { ownerId, mode } = context.tenant
    const [transfer] = await context.sql<TransferRow>(TRANSFER, [ownerId, mode, id])
    if (!transfer) return undefined
    const { agentId, amountCents, payee, purpose } = transfer
    const agent = agentId && (await readAgentName(agentId, context))
    return { ...NO_FACTS, agent, amountCents, payee, purpose }
  },
  async recovery(id, context) {
    const person = await readPerson(id, context)
    return person && (await isBeingRecovered(id, context)) ? { ...NO_FACTS, person: person.name } : undefined
  },
}

/** Undefined once it has been decided: there is nothing to ask any more. */
export const readQuestion = ({ kind, subjectId }: Question, context: SqlContext) =>
  read[kind](subjectId, context)

const PAGES: Readonly<Record<QuestionKind, string>> = {
  intent: '/approve',
  card_request: '/console/card-requests',
  change_request: '/console/change-requests',
  transfer: '/console/transfers',
  recovery: '/console/people',
}

/** The page where a person decides, with a passkey. Reading it decides nothing. */
export const questionPath = ({ kind, subjectId }: Question): string => `${PAGES[kind]}/${subjectId}`

const DETAILS = 'select include_details as "isOn" from channel_settings where (owner_id, mode) = ($1, $2)'

export async function includesDetails({ sql, tenant: { ownerId, mode } }: SqlContext): Promise<boolean> {
  return (await sql<Row & { isOn: boolean }>(DETAILS, [ownerId, mode]))[0]?.isOn ?? false
}
