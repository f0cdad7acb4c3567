import type { Context } from '../../kernel/contract/context.ts'
import { Problem } from '../../kernel/contract/problem.ts'
import { type Scope, scopes } from '../../kernel/contract/scopes.ts'
import { isOpen } from '../../kernel/database/credential.ts'
import { lockTenant } from '../../kernel/database/tenant-lock.ts'
import { Key } from './key.ts'

/** Locks the calling key, so that a key that is being revoked cannot create credentials at the same time. */
export async function lockCallingKey({ records, actor }: Pick<Context, 'records' | 'actor'>): Promise<Key> {
  const key = await records.lock(Key, String(actor.id))
  if (!key || !isOpen(key)) throw new Problem('unauthenticated')
  return key
}

/** Explains why a credential would outlive the key that creates it; undefined if it would not. */
export function expiryProblem(end: Date | null, { expiresAt }: Pick<Key, 'expiresAt'>): string | undefined {
  if (!expiresAt || (end && end <= expiresAt)) return undefined
  return `the calling key ends ${expiresAt.toISOString()}, and nothing that it makes lasts longer.`
}

/** The scopes of a new key that names none: those of its maker. null = every scope, future ones included. */
export const inheritedScopes = ({ granted }: Key): Scope[] | null =>
  granted && scopes.filter(scope => granted.includes(scope))

/** Serializes the check: the second of two concurrent requests sees the key that the first one creates. */
export async function hasActiveLiveKey(
  context: Pick<Context, 'records' | 'sql' | 'tenant'>,
  now: Date,
): Promise<boolean> {
  await lockTenant(context, 'live keys')
  const open = { revokedAt: null, $or: [{ expiresAt: null }, { expiresAt: { $gt: now } }] }
  return (await context.records.count(Key, open)) > 0
}
