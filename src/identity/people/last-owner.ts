import type { Context } from '../../kernel/contract/context.ts'
import { passkeyStanding } from '../passkeys/index.ts'
import { Person } from './person.ts'

/**
 * Whether the tenant would be left without an owner who can sign, or whom a recovery can let in again. A tenant that has
 * never had a passkey is its keys’. Take the locks of passkeys and people before.
 */
export async function isLastOwner(
  { id, role }: Person,
  { records, sql, tenant }: Pick<Context, 'records' | 'sql' | 'tenant'>,
): Promise<boolean> {
  if (role !== 'owner') return false
  const [{ everEnrolled, personIds }, others] = await Promise.all([
    passkeyStanding(sql, tenant),
    records.find(Person, { id: { $ne: id }, role: 'owner', status: { $ne: 'removed' } }),
  ])
  if (!everEnrolled) return false
  if (!personIds.includes(id)) return others.length === 0
  return !others.some(other => personIds.includes(other.id))
}
