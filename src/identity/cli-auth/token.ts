import type { Context } from '../../kernel/contract/context.ts'
import type { HandlerOf } from '../../kernel/contract/operation.ts'
import { updateOf } from '../../kernel/database/bulk-sql.ts'
import { offsetOf } from '../../kernel/database/tenant-clock.ts'
import { clock } from '../../values/clock.ts'
import { makeDeviceKey, rightsByNow } from '../keys/index.ts'
import type { cliAuthApi } from './api.ts'
import { codeChallengeOf, lockByCode, type PairingRow, pairingsTable } from './find.ts'
import { pairingMachine } from './pairing.ts'
import { pairingEvent } from './schemas.ts'

type Fetching = Pick<Context, 'sql' | 'actFor'>

/** The terminal shows no credential: from here on the request acts for whomever the row belongs to. */
async function actForItsTenant({ ownerId, mode }: PairingRow, { sql, actFor }: Fetching): Promise<void> {
  const tenant = { ownerId, mode }
  actFor(tenant, clock.tenant(mode === 'test' ? await offsetOf(sql, tenant) : 0))
}

const writeEnd = updateOf(pairingsTable, ['status', 'keyId', 'updatedAt'])

const end = (pairing: PairingRow, to: 'paired' | 'void', { sql }: Fetching): Promise<void> => {
  pairingMachine.move(pairing, to)
  pairing.updatedAt = clock.real()
  return writeEnd(sql, pairing, [pairing])
}

/** Why the terminal gets no key yet, or never; undefined once somebody has approved. */
function whyNot({ status, expiresAt }: PairingRow) {
  if (status === 'denied') return 'access_denied'
  if (expiresAt <= clock.real()) return 'expired_token'
  return status === 'pending' ? 'authorization_pending' : undefined
}

/** The row stays locked, so of many who ask at once one gets the key. */
export const token: HandlerOf<typeof cliAuthApi.token> = async ({ body }, context) => {
  const { sql, emit, refuse } = context
  const pairing = await lockByCode(sql, body.code)
  if (!pairing || pairingMachine.isFinal(pairing.status)) return refuse('invalid_grant')
  if (codeChallengeOf(body.codeVerifier) !== pairing.codeChallenge) {
    await actForItsTenant(pairing, context)
    await end(pairing, 'void', context)
    emit('cli.failed', { ...pairingEvent(pairing), personId: pairing.personId })
    return refuse('invalid_grant')
  }
  const code = whyNot(pairing)
  if (code) return refuse(code)
  await actForItsTenant(pairing, context)
  return pair(pairing, context)
}

type Pairing = Parameters<typeof token>[1]

/** Makes the key, with what the person gave and still has. */
async function pair(pairing: PairingRow, context: Pairing) {
  const { records, emit, refuse } = context
  const scopes = await rightsByNow(pairing, context)
  if (scopes.length === 0) return refuse('access_denied')
  const { id: sessionId, deviceName: name, toolWrites } = pairing
  const personId = String(pairing.personId)
  const key = makeDeviceKey({ name, scopes, toolWrites, boundTo: null, personId, sessionId }, context)
  await records.flush()
  pairing.keyId = key.id
  await end(pairing, 'paired', context)
  emit('cli.paired', { ...pairingEvent(pairing), personId, keyId: key.id })
  return key
}
