import type { HandlerOf } from '../../kernel/contract/operation.ts'
import type { Row } from '../../kernel/contract/sql.ts'
import { clock } from '../../values/clock.ts'
import { Person } from '../customers/index.ts'
import { hasPeople, lockPerson, replacePersonLink } from '../people/index.ts'
import type { consoleApi } from './api.ts'

const FIND_CUSTOMER = `
select c.kyc_status = 'verified' as "isVerified", coalesce(t.offset_ms, 0)::float8 as "offsetMs"
from customers c left join tenant_clocks t on t.owner_id = c.id and t.mode = 'test'
where c.id = $1`

interface FoundCustomer extends Row {
  readonly isVerified: boolean
  readonly offsetMs: number
}

/**
 * Replaces the owner's other links. A verified owner's test keys can create a live key, so that only a recovery,
 * which takes a day and can be stopped, lets the operator in.
 */
export const createSandboxLink: HandlerOf<typeof consoleApi.createSandboxLink> = async (
  { body: { ownerId } },
  context,
) => {
  const { em, sql, switchTenant, emit, refuse } = context
  const [found] = await sql<FoundCustomer>(FIND_CUSTOMER, [ownerId])
  if (!found) return refuse('customer_not_found')
  if (found.isVerified) return refuse('owner_verified')
  switchTenant({ ownerId, mode: 'test' }, clock.tenant(found.offsetMs))
  await lockPerson(null, context)
  const [owner] = await em.find(
    Person,
    { role: 'owner', status: { $ne: 'removed' } },
    { orderBy: { status: 'asc', id: 'asc' } },
  )
  if (!owner && (await hasPeople(context))) return refuse('owner_missing')
  const personId = owner?.id ?? null
  const link = await replacePersonLink({ personId, kind: 'sign_in', fromOperator: true }, context)
  emit('console.link_created', { linkId: link.id, personId, expiresAt: link.expiresAt })
  return { ...link, personId }
}
