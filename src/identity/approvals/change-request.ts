import { defineEntity, p } from '@mikro-orm/core'
import type { Actor, TenantNow } from '../../kernel/contract/actor.ts'
import type { SqlContext } from '../../kernel/contract/context.ts'
import { stateMachine } from '../../kernel/contract/machine.ts'
import type { Row } from '../../kernel/contract/sql.ts'
import {
  nullable,
  recordColumns,
  tenantTable,
  timestampColumn,
  withMembers,
} from '../../kernel/database/entity.ts'
import { personal, personalTable, plain } from '../../kernel/database/personal.ts'
import { lockTenant } from '../../kernel/database/tenant-lock.ts'
import { quoted, type StatedWidening } from '../../statements/index.ts'
import { days } from '../../values/clock.ts'
import { cents } from '../../values/money.ts'
import { ID_AND_NAME } from '../../values/personal.ts'
import type { ApprovalProgress, Circumstances } from './progress.ts'
import { approvalProgressResponse } from './response.ts'

export const changeRequestMachine = stateMachine('change-request', {
  waiting: ['applied', 'rejected', 'outdated'],
  applied: [],
  rejected: [],
  outdated: [],
})

/** How long people have to approve it. */
export const CHANGE_REQUEST_TTL_MS = days(3)

/** Bounds what people read. Each person finds room, however much keys propose. */
export const MAX_WAITING_OF_PROPOSER = 5
export const MAX_WAITING_OF_KEYS = 10

/** The operations that wait for several people where a policy with steps is concerned. */
export const heldOperations = [
  'policies.replace',
  'policies.apply',
  'policies.assign',
  'policies.toggle',
  'people.create',
  'people.update',
  'people.link',
  'deputies.create',
  'sso.update',
] as const

export const isHeldOperation = (operation: string): boolean => heldOperations.some(one => one === operation)

/** SQL condition: what was asked for is still kept. It must equal the partial index's text. */
export const KEPT_WRITE_SQL = "status = 'waiting' and write - 'operation' <> '{}'"

/** What was asked for. The noun of the operation says which members it keeps. */
export interface HeldWrite {
  readonly operation: (typeof heldOperations)[number]
}

interface Proposer {
  readonly type: string
  readonly id: string | null
  readonly name: string | null
}

/** The members of a write that can tell of a person. What was asked for is still shown: the operation. */
const PERSONAL_MEMBERS = '{"name":null,"email":null,"members":null,"rules":null,"deputyId":null}'

const schema = defineEntity({
  ...tenantTable('ChangeRequest', 'change_requests', 'agentId'),
  ...personalTable({ about: { person: ["proposed_by ->> 'id'", 'person_id'] } }),
  properties: {
    ...recordColumns('changerequest'),
    status: p.enum(changeRequestMachine.states).onCreate(() => changeRequestMachine.initial),
    policyId: plain(nullable.string()),
    agentId: nullable.string(),
    personId: nullable.string(),
    write: personal(p.json<HeldWrite>(), 'payment', 'contract', { members: PERSONAL_MEMBERS }),
    changes: personal(p.json<readonly StatedWidening[]>(), 'payment', 'contract', { value: '[]' }),
    approval: plain(p.json<ApprovalProgress>()),
    proposedBy: personal(p.json<Proposer>(), 'name', 'contract', ID_AND_NAME),
    reason: personal(nullable.string(), 'words', 'contract', 'word'),
    expiresAt: timestampColumn(),
  },
})

/**
 * A change that lets more be spent under a policy with steps, or changes who approves there. As many people sign it as all
 * steps need.
 */
export class ChangeRequest extends schema.class {}
schema.setClass(ChangeRequest)

/** What was asked for can have an address or a sealed secret: it is needed only while people decide. */
export function forgetWrite(change: ChangeRequest): void {
  change.write = { operation: change.write.operation }
}

const ADDRESS = /“[^”\s]+@[^”\s]+”/g

/** What people sign about a person quotes the address, which is on record only as long as the person is. */
export function forgetAddress(change: ChangeRequest): void {
  if (change.personId === null) return
  const without = (text: string): string => text.replace(ADDRESS, quoted('[forgotten]'))
  change.changes = change.changes.map(one => ({ ...one, from: without(one.from), to: without(one.to) }))
}

/** A change has no amount: its one step is always asked. */
export const CHANGE_AMOUNT = cents(1n)

export const isWaiting = ({ status, expiresAt }: ChangeRequest, now: Date): boolean =>
  status === 'waiting' && expiresAt > now

interface WaitingChange extends Pick<ChangeRequest, 'agentId' | 'personId' | 'approval'>, Row {}

const WAITING = `
select agent_id as "agentId", person_id as "personId", approval from change_requests
where (owner_id, mode, id) = ($1, $2, $3) and status = 'waiting'`

/** Undefined once it has ended. */
export async function readWaitingChange(
  id: string,
  { sql, tenant: { ownerId, mode } }: SqlContext,
): Promise<WaitingChange | undefined> {
  return (await sql<WaitingChange>(WAITING, [ownerId, mode, id]))[0]
}

const COUNT_WAITING = `
select count(*) filter (where proposed_by ->> 'type' = $4 and proposed_by ->> 'id' is not distinct from $5)::int as own,
  count(*) filter (where proposed_by ->> 'type' <> 'console')::int as "ofKeys"
from change_requests where (owner_id, mode) = ($1, $2) and status = 'waiting' and expires_at > $3`

/** Why no further change of this proposer may wait; undefined if one may. Concurrent proposals wait for one another. */
export async function noRoomFor(
  { type, id }: Pick<Actor, 'type' | 'id'>,
  context: SqlContext & TenantNow,
): Promise<string | undefined> {
  const { sql, tenant, now } = context
  await lockTenant(context, 'change_requests')
  const [waiting] = await sql<{ own: number; ofKeys: number } & Row>(COUNT_WAITING, [
    tenant.ownerId,
    tenant.mode,
    now,
    type,
    id,
  ])
  const { own = 0, ofKeys = 0 } = waiting ?? {}
  if (own >= MAX_WAITING_OF_PROPOSER) return `${own} changes that you proposed wait already. ${ROOM}`
  return type !== 'console' && ofKeys >= MAX_WAITING_OF_KEYS
    ? `${ofKeys} changes that keys proposed wait already. ${ROOM}`
    : undefined
}

const ROOM = 'Let people approve or reject some first: GET /change-requests.'

const LOCK_WAITING_OF_AGENT = `
select id from change_requests where owner_id = $1 and mode = $2 and agent_id = $3 and status = 'waiting'
order by id for no key update skip locked`

/** Locks what waits about an agent, and is not being approved or rejected at this instant. Gives their ids. */
export async function lockWaitingOfAgent(
  agentId: string,
  { sql, tenant: { ownerId, mode } }: SqlContext,
): Promise<string[]> {
  const rows = await sql<{ id: string } & Row>(LOCK_WAITING_OF_AGENT, [ownerId, mode, agentId])
  return rows.map(({ id }) => id)
}

export const changeRequestResponse = (change: ChangeRequest, { approvers, now }: Circumstances) =>
  withMembers(change, {
    operation: change.write.operation,
    status: change.status === 'waiting' && change.expiresAt <= now ? ('expired' as const) : change.status,
    changes: [...change.changes],
    approval: approvalProgressResponse(change.approval, {
      amountCents: CHANGE_AMOUNT,
      isOpen: isWaiting(change, now),
      approvers,
    }),
  })

export const changeRequestEvent = ({
  id: changeRequestId,
  policyId,
  agentId,
  personId,
  write,
  status,
  approval,
}: ChangeRequest) => ({
  changeRequestId,
  policyId,
  agentId,
  personId,
  operation: write.operation,
  status,
  given: approval.given.length,
  needed: approval.steps.reduce((sum, { need }) => sum + need, 0),
})
