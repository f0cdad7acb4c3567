import type { FilterQuery } from '@mikro-orm/postgresql'
import { area } from '../../kernel/contract/area.ts'
import { implement } from '../../kernel/contract/operation.ts'
import { definedOnly, halfOpenRange } from '../../kernel/database/entity.ts'
import { auditApi } from './api.ts'
import { AuditEntry } from './audit-entry.ts'

type Condition = FilterQuery<AuditEntry>

/** Tells an actor's id from a kind of actor by the underscore, which every id has. */
const byActor = (actor: string): Condition =>
  actor.includes('_') ? { actorId: actor } : { actorType: actor }

const byAction = (action: string): Condition => ({
  action: action.endsWith('*') ? { $like: `${action.slice(0, -1)}%` } : action,
})

/** Searches for the text itself: its wildcards are escaped. */
function byText(text: string): Condition {
  const $ilike = `%${text.replace(/[\\%_]/g, '\\$&')}%`
  const members = ['action', 'event', 'resourceId', 'actorType', 'actorId', 'requestId']
  return { $or: members.map(member => ({ [member]: { $ilike } })) } as Condition
}

const audit = implement(auditApi, {
  list({ query: { actor, action, resource, requestId, from, to, q } }, { page }) {
    const $and: Condition[] = [definedOnly({ resourceId: resource, requestId, at: halfOpenRange(from, to) })]
    if (actor) $and.push(byActor(actor))
    if (action) $and.push(byAction(action))
    if (q) $and.push(byText(q))
    return page(AuditEntry, { $and } as Condition)
  },
})

export const auditArea = area('Audit', 'Who did what, when, and from where.', audit, {
  entities: [AuditEntry],
})
