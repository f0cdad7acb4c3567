import type { FilterQuery } from '@mikro-orm/core'
import type { Tenant } from '../../kernel/contract/actor.ts'
import { area } from '../../kernel/contract/area.ts'
import { contains, sqlCondition, startsWith } from '../../kernel/contract/conditions.ts'
import { bindHandlers, type HandlerOf } from '../../kernel/contract/operation.ts'
import type { Sql } from '../../kernel/contract/sql.ts'
import { idRangeCondition } from '../../kernel/database/created-within.ts'
import { definedOnly, halfOpenRangeCondition, withMembers } from '../../kernel/database/entity.ts'
import { pageOfEvents } from '../../kernel/journal/call-events.ts'
import type { Event } from '../../kernel/journal/event.ts'
import { withAuditIds } from '../../kernel/journal/timeline.ts'
import {
  consistencySteps,
  coverOf,
  hashesOf,
  inclusionSteps,
  leafText,
  type TrailEntry,
} from '../../trail/index.ts'
import { auditApi } from './api.ts'
import { auditPersonalData, Checkpoint, checkpointView, latestCheckpoint } from './checkpoint.ts'
import { findTrailEntry, type StoredTrailEntry, trailEntryFromEvent } from './entries.ts'
import { exportTrail } from './export.ts'
import { purgeTrail } from './purge.ts'
import { readTreeNodes } from './tree-store.ts'
import { verifyTrail } from './verification.ts'

const actions = [
  'intents.approve',
  'intents.deny',
  'cardRequests.approve',
  'cardRequests.deny',
  'transfers.confirmPayee',
] as const

export type AuditDecisionAction = (typeof actions)[number]

/** The events of a decision. The same request may write others, such as that of the passkey that signed it. */
const events = ['intent.approved', 'intent.denied', 'card_limit_request.updated', 'payment.updated'] as const

const inList = (column: string, names: readonly string[]): string =>
  `${column} in (${names.map(name => `'${name}'`).join(', ')})`

/**
 * SQL: the entries of decisions. The names are literals, as in the index `events_of_decisions`: with
 * parameters PostgreSQL could not use the partial index.
 */
const OF_DECISIONS = `${inList('action', actions)} and ${inList('event', events)}`

/** An actor's id contains an underscore; a kind of actor does not. */
const byActor = (actor: string): FilterQuery<Event> =>
  actor.includes('_') ? { actorId: actor } : { actorType: actor }

const byAction = (action: string): FilterQuery<Event> => ({
  action: action.endsWith('*') ? startsWith(action.slice(0, -1)) : action,
})

function byText(text: string): FilterQuery<Event> {
  const found = contains(text)
  return {
    $or: [
      { action: found },
      { event: found },
      { resourceId: found },
      { actorType: found },
      { actorId: found },
      { requestId: found },
    ],
  }
}

const textOrNull = (value: unknown): string | null => (typeof value === 'string' ? value : null)

function namedIn({ personId, sha256, receivedAt }: TrailEntry['data']) {
  const received = textOrNull(receivedAt)
  return {
    personId: textOrNull(personId),
    sha256: textOrNull(sha256),
    receivedAt: received === null ? null : new Date(received),
  }
}

function detailsOf(row: StoredTrailEntry) {
  const { at, mode, position } = row
  const { id, data, ...entry } = trailEntryFromEvent(row)
  const place = position === null ? null : Number(position)
  return { ...entry, ...namedIn(data), id, mode, at, data, position: place }
}

const search: HandlerOf<typeof auditApi.list> = async ({ query }, context) => {
  const { actor, action, kind, resource, requestId, agentId, outcome, from, to, q } = query
  const id = idRangeCondition('event', { from, to })
  const $and: FilterQuery<Event>[] = [
    definedOnly({
      resourceId: resource,
      requestId,
      agentId,
      outcome,
      at: halfOpenRangeCondition(from, to),
      id,
    }),
  ]
  if (actor) $and.push(byActor(actor))
  if (action) $and.push(byAction(action))
  if (kind === 'decision') $and.push(sqlCondition(OF_DECISIONS))
  if (q) $and.push(byText(q))
  // The index of decisions has an entry for each.
  const ofAgent = kind === 'decision' ? undefined : (agentId ?? context.actor.agentId)
  const led = { requestId, resourceId: resource, agentId: ofAgent, id }
  const found = await pageOfEvents(context, { $and } as FilterQuery<Event>, led)
  return withAuditIds({ ...found, data: found.data.map(entry => withMembers(entry, namedIn(entry.data))) })
}

const inBase64 = (hashes: readonly Buffer[]): string[] => hashes.map(hash => hash.toString('base64'))

const prove: HandlerOf<typeof auditApi.proof> = async ({ params }, { sql, tenant, refuse }) => {
  const [row, checkpoint] = await Promise.all([
    findTrailEntry(sql, tenant, params.id),
    latestCheckpoint(sql, tenant),
  ])
  if (!row) return refuse('entry_not_found')
  // The entry may have been sealed after the checkpoint was read.
  if (row.position === null || !checkpoint || Number(row.position) >= checkpoint.size)
    return refuse('not_sealed')
  const position = Number(row.position)
  const { size, note } = checkpoint
  const entry = trailEntryFromEvent(row)
  const { commitments, salts } = row
  return {
    entryId: entry.id,
    position,
    leaf: leafText(entry, { commitments }),
    leafHash: row.leaf.toString('base64'),
    commitments,
    salts,
    size,
    proof: await proofHashes(sql, tenant, size, inclusionSteps(position, size)),
    checkpoint: note,
  }
}

async function proofHashes(
  sql: Sql,
  tenant: Tenant,
  size: number,
  steps: ReturnType<typeof inclusionSteps>,
): Promise<string[]> {
  return inBase64(hashesOf(steps, await readTreeNodes(sql, tenant, size, steps.flat())))
}

const NOTE_OF_SIZE = `select note from audit_checkpoints where owner_id = $1 and mode = $2 and size = $3`

const proveConsistency: HandlerOf<typeof auditApi.consistency> = async ({ query }, context) => {
  const { sql, tenant, refuse } = context
  const newest = await latestCheckpoint(sql, tenant)
  const { from, to = newest?.size ?? 0 } = query
  if (!newest || from > to || to > newest.size) return refuse('beyond_trail')
  const steps = consistencySteps(from, to)
  const [older, newer] = [coverOf(0, from), coverOf(0, to)]
  const [hashOf, [noted]] = await Promise.all([
    readTreeNodes(sql, tenant, newest.size, [...steps.flat(), ...older, ...newer]),
    sql<{ note: string }>(NOTE_OF_SIZE, [tenant.ownerId, tenant.mode, to]),
  ])
  const [fromRoot = '', toRoot = '', ...proof] = inBase64(hashesOf([older, newer, ...steps], hashOf))
  return { from, to, fromRoot, toRoot, proof, checkpoint: noted?.note ?? null }
}

const audit = bindHandlers(auditApi, {
  list: search,

  async get({ params }, { sql, tenant, refuse }) {
    const row = await findTrailEntry(sql, tenant, params.id)
    return row ? detailsOf(row) : refuse('entry_not_found')
  },

  proof: prove,

  checkpoint: async (_, { sql, tenant, refuse }) =>
    (await latestCheckpoint(sql, tenant)) ?? refuse('trail_not_found'),

  async checkpoints(_, { page }) {
    const { data, ...cursor } = await page(Checkpoint, {})
    return { ...cursor, data: data.map(checkpointView) }
  },

  consistency: proveConsistency,
  export: exportTrail,
  purge: purgeTrail,
  verify: verifyTrail,
})

export const auditArea = area(
  'Audit',
  'Who did what, when and from where, in a tamper-evident trail.',
  audit,
  { entities: [Checkpoint], personal: auditPersonalData },
)
