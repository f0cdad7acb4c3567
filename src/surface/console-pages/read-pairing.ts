import { findPairing, whyClosed } from '../../identity/cli-auth/index.ts'
import type { Context } from '../../kernel/contract/context.ts'
import { scopes } from '../../kernel/contract/scopes.ts'
import type { PairingView } from './pairing-page.ts'
import { viewerOf } from './viewer.ts'

/** What the page shows of a terminal that asks for a key; undefined where the person may not see it. */
export async function readPairing(
  code: string,
  context: Pick<Context, 'sql' | 'tenant' | 'actor'>,
): Promise<PairingView | undefined> {
  const { tenant, actor } = context
  const pairing = await findPairing(code, context)
  if (!pairing) return undefined
  const { status, pairingCode, deviceName, address, toolWrites, createdAt, expiresAt } = pairing
  return {
    code,
    state: whyClosed(pairing) === 'pairing_expired' ? 'expired' : status,
    pairingCode,
    deviceName,
    address,
    createdAt,
    expiresAt,
    mayDoAll: scopes.every(scope => actor.scopes.has(scope)),
    scopes: [...actor.scopes],
    toolWrites,
    isTest: tenant.mode === 'test',
    viewer: viewerOf(actor),
  }
}
