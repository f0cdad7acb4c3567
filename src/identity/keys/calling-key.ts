import type { Context } from '../../kernel/contract/context.ts'
import { Problem } from '../../kernel/contract/problem.ts'
import { type Scope, scopes } from '../../kernel/contract/scopes.ts'
import { isOpen } from '../../kernel/database/credential.ts'
import { lock } from '../../kernel/database/entity.ts'
import { lockTenant } from '../../kernel/database/tenant-lock.ts'
import { Key } from './key.ts'

/** The key that calls, held until the transaction ends: one that is revoked at this moment makes nothing more. */
export async function lockCallingKey({ em, actor }: Pick<Context, 'em' | 'actor'>): Promise<Key> {
  const key = await lock(em, Key, String(actor.id))
  if (!key || !isOpen(key)) throw new Problem('unauthenticated')
  return key
}

/** The end of a credential that is to last longer than the key that makes it, in words; undefined where it is not. */
export function expiryProblem(end: Date | null, { expiresAt }: Pick<Key, 'expiresAt'>): string | undefined {
  if (!expiresAt || (end && end <= expiresAt)) return undefined
  return `the calling key ends ${expiresAt.toISOString()}, and nothing that it makes lasts longer.`
}

/** The scopes that a key gives when nothing is said: all it has, those of later versions too where it has them. */
export const inheritedScopes = ({ granted }: Key): Scope[] | null =>
  granted && scopes.filter(scope => granted.includes(scope))

/** Asked for in live mode, one request after the other: of two at once the second one finds the key of the first. */
export async function hasActiveLiveKey(
  context: Pick<Context, 'em' | 'sql' | 'tenant'>,
  now: Date,
): Promise<boolean> {
  await lockTenant(context, 'live keys')
  const open = { revokedAt: null, $or: [{ expiresAt: null }, { expiresAt: { $gt: now } }] }
  return (await context.em.count(Key, open)) > 0
}
